//! Python projects and finished wheels in a plan.

use std::collections::BTreeMap;

use base::names::PackageName;
use plan::{Plan, PrefetchedWheel, Sources};
use review::{markdown_text, summary_text};
use workbench::expected;

use super::support::{Case, devel, package, runtime};

const PYTHON: &str = r#"
python-project "tools" {
    source "tools"
    after "bindings" "extras"
}
python-project "bindings" {
    source "bindings" subdirectory="python"
    after "runtime"
    build-requires "cython>=3"
    run "{python}" "render.py" "a b"
    env "ROOT" "{devel}/lib"
    bindings "^fft" "rand" env="LIBS"
    pass "LICENSE_SERVER"
    config-setting "define" "A|B"
    config-setting "define" "C"
    no-isolation
}
python-project "runtime" { source "runtime"; }
python-project "absent" optional="built elsewhere" { source "absent"; }
wheel "extras" path="wheels/extras-*.whl"
wheel "fetched" index="fetched==2.0"
"#;

/// Libraries in the checkout of `bindings`.
const LIBRARIES: [&str; 4] = ["fft", "rand", "blas", "blaslt"];

fn name(text: &str) -> PackageName {
    text.parse().unwrap()
}

fn sources() -> Sources {
    let files = ["wheels/extras-1-cp311-cp311-any.whl", "wheels/extras-1-cp312-cp312-any.whl"]
        .map(|path| path.parse().unwrap());
    Sources {
        projects: ["tools", "bindings", "runtime"].map(|text| (name(text), 0)).into(),
        libraries: BTreeMap::from([(name("bindings"), LIBRARIES.map(str::to_owned).to_vec())]),
        lacking: BTreeMap::new(),
        wheels: BTreeMap::from([(name("extras"), files.to_vec())]),
    }
}

fn case() -> Case {
    let packages = [
        package("meta", "selector", "\"x\" module=\"x_meta\" per=\"none\"", "requires \"core\""),
        runtime("core", "artifact \"base\" \"lib\""),
        devel("artifacts-of \"core\""),
        PYTHON.to_owned(),
    ];
    Case::new(&packages, "base_lib_generic lib/libx.so.1 so libx.so.1")
        .asking(|request| request.sources = Some(sources()))
}

fn projects(plan: &Plan) -> Vec<&str> {
    plan.projects.iter().map(|p| p.name.as_str()).collect()
}

#[test]
fn projects_are_in_build_order() {
    let plan = case().plan();
    assert_eq!(projects(&plan), ["runtime", "bindings", "tools"]);
    let after: Vec<&str> = plan.projects[2].after.iter().map(PackageName::as_str).collect();
    assert_eq!(
        after,
        ["bindings", "extras", "runtime"],
        "what comes before by way of others is there too"
    );
    assert_eq!(
        plan.wheels.iter().map(|w| (w.name.as_str(), w.files.len())).collect::<Vec<_>>(),
        [("extras", 2), ("fetched", 0)]
    );
}

#[test]
fn inputs_of_a_build_are_data() {
    let plan = case().plan();
    let project = &plan.projects[1];
    assert_eq!(project.environment["LIBS"], "blas,blaslt", "all but those of the manifest");
    assert_eq!(project.config_settings["define"], ["A|B", "C"]);
    assert!(project.devel && !project.isolated && !plan.projects[0].devel);
    let tree = plan.devel.as_ref().unwrap();
    assert_eq!((tree.directory.as_str(), tree.module.as_str()), ("dist", "x_meta"));
    assert_eq!(tree.install, ["x==1.0", "x-core==1.0", "x-devel==1.0"]);
}

#[test]
fn the_command_line_selects_libraries_that_there_are() {
    let with = |list: &'static str| {
        case().asking(move |request| {
            request.libraries = vec![(name("bindings"), list.to_owned())];
        })
    };
    for (list, chosen) in [("blas*", "blas,blaslt"), ("^blas*", "fft,rand"), ("*", "*")] {
        assert_eq!(with(list).plan().projects[1].environment["LIBS"], chosen, "{list}");
    }
    let core = runtime("core", "artifact \"base\" \"lib\"");
    let without = Case::new(&[core], "base_lib_generic lib/libx.so.1 so libx.so.1");
    let without = without.asking(|request| {
        request.libraries = vec![(name("bindings"), "fft".to_owned())];
    });
    assert_eq!(
        without.problem(),
        "--libs: no project `bindings` with a `bindings` line\n  help: remove it: no project of this manifest has one\n"
    );
    for (list, says) in [("fft,fff", "no library `fff`"), ("^*", "selects no library")] {
        let problems = with(list).problems();
        assert!(problems.iter().any(|p| p.contains(says)), "{list}");
    }
}

#[test]
fn variables_and_settings_of_every_project_are_applied() {
    let more = r#"
variable "targets" "{isas}"
variable "kind" "Release"
every-project { env "TARGETS" "{targets}"; env "ROOT" "no"; pass "TOKEN"; }
native-project "graph" {
    source "graph"
    cmake "-DKIND={kind}" preset="p-{kind}"
    without-env "TARGETS" "TOKEN"
}
native-project "gone" optional="elsewhere" { source "gone"; run "true"; }
python-project "user" {
    source "user"
    after "graph" "gone"
    env "ROOT" "{prefix:graph}"
    env "GONE_ROOT" "{prefix:gone}"
}
"#;
    let packages = [
        package("meta", "selector", "\"x\" module=\"x_meta\" per=\"none\"", "requires \"core\""),
        runtime("core", "artifact \"base\" \"lib\""),
        more.to_owned(),
    ];
    let plan = Case::new(&packages, "base_lib_generic lib/libx.so.1 so libx.so.1")
        .asking(|request| {
            let projects = ["graph", "user"].map(|text| (name(text), 0)).into();
            request.sources = Some(Sources { projects, ..Sources::default() });
            request.variables =
                vec![("kind".to_owned(), "Debug".to_owned()), ("targets".into(), "a;b".into())];
        })
        .plan();
    assert_eq!(projects(&plan), ["graph", "user"]);
    let native = plan.projects[0].native.as_ref().unwrap().cmake.as_ref().unwrap();
    assert_eq!(*native, ["--preset=p-Debug", "-DKIND=Debug"]);
    let graph = &plan.projects[0];
    assert_eq!(graph.environment.keys().collect::<Vec<_>>(), ["ROOT"], "TARGETS is left out");
    assert!(graph.pass.is_empty(), "so is TOKEN: {:?}", graph.pass);
    let user = &plan.projects[1];
    assert_eq!(user.environment["TARGETS"], "a;b");
    assert_eq!(user.environment["ROOT"], "{prefix:graph}", "its own comes first");
    assert_eq!(
        user.pass,
        ["GONE_ROOT", "TOKEN"],
        "of what is left out, the caller says where it is"
    );
}

#[test]
fn text_and_markdown_list_them() {
    let plan = case().plan();
    let text = summary_text(&plan, false);
    let listed = text.split_once("projects, in").unwrap().1;
    expected::compare("tests/fixtures/planning/projects.txt", listed);
    let markdown = markdown_text(&plan);
    let section = markdown.split_once("**Python projects").unwrap().1;
    let table = section.split_once("<details>").unwrap().0;
    expected::compare("tests/fixtures/planning/projects.md.txt", table);
}

#[test]
fn a_plan_with_projects_reads_back() {
    let plan = case().plan();
    let text = serde_json::to_string(&plan).unwrap();
    let again = Plan::read(&text).unwrap();
    assert_eq!(
        (&again.projects, &again.wheels, &again.devel),
        (&plan.projects, &plan.wheels, &plan.devel)
    );
}

#[test]
fn without_sources_only_wheels_of_an_index_are_taken() {
    let plan = case().asking(|request| request.sources = None).plan();
    assert!(plan.projects.is_empty() && plan.devel.is_none());
    assert_eq!(plan.wheels.len(), 1);
    let note = "left out without --sources: `extras`, `runtime`, `bindings` and 2 more";
    assert!(plan.notes.iter().any(|n| n == note), "{:?}", plan.notes);
}

#[test]
fn only_chooses_among_projects_and_packages() {
    let plan = case()
        .asking(|request| {
            request.only = ["bindings", "core"].map(|name| name.parse().unwrap()).into();
        })
        .plan();
    assert_eq!(
        (projects(&plan), plan.distributions.len(), plan.wheels.len()),
        (vec!["bindings"], 1, 0)
    );
    assert!(plan.devel.is_some(), "the tree is of packages that an earlier build left");
    assert!(
        !plan.notes.iter().any(|note| note.text.contains("absent")),
        "nobody asked for it: {:?}",
        plan.notes
    );
}

#[test]
fn wheels_of_others_come_from_files_an_index_or_a_repository() {
    let case = |index: &'static str| {
        let more = r#"
variable "index" "https://example.org/simple"
prefetch "of-files" path="wheels/*.whl" index="{index}"
prefetch "of-index" path="wheels/*.whl" index="{index}" requirement="of-index>=2"
prefetch "of-own-index" requirement="of-own-index[all]>=2"
prefetch "of-git" git="https://example.org/of-git" branch="v2"
prefetch "of-none" path="none/*.whl" index="{index}"
prefetch "unused" path="none/*.whl"
prefetch "of-checkout" git="https://example.org/of-checkout"
prefetch "of-no-checkout" git="https://example.org/of-no-checkout"
python-project "of-checkout" optional="elsewhere" { source "there"; }
python-project "of-no-checkout" optional="elsewhere" { source "absent"; after "elsewhere"; }
python-project "elsewhere" optional="elsewhere" { source "elsewhere"; }
native-project "graph" { source "graph"; run "true"; after "of-files" "of-index"; }
python-project "user" { source "user"; after "graph" "of-own-index" "of-git" "of-none" "of-checkout" "of-no-checkout"; }
"#;
        let packages = [runtime("core", "artifact \"base\" \"lib\""), more.to_owned()];
        Case::new(&packages, "base_lib_generic lib/libx.so.1 so libx.so.1").asking(move |request| {
            let projects = ["graph", "of-checkout", "user"].map(|text| (name(text), 0)).into();
            let file = "wheels/of_files-1-py3-none-any.whl".parse().unwrap();
            let wheels = BTreeMap::from([(name("of-files"), vec![file])]);
            request.sources = Some(Sources { projects, wheels, ..Sources::default() });
            request.variables = vec![("index".to_owned(), index.to_owned())];
        })
    };
    let plan = case("https://example.org/other").plan();
    let origins: Vec<String> = plan.prefetched.iter().map(PrefetchedWheel::origin).collect();
    assert_eq!(
        origins,
        [
            "wheels/of_files-1-py3-none-any.whl",
            "of-index>=2 of https://example.org/other",
            "of-own-index[all]>=2 of the index",
            "of-git @ git+https://example.org/of-git@v2",
            "of-none of https://example.org/other",
            "of-no-checkout @ git+https://example.org/of-no-checkout",
        ]
    );
    let after = &plan.projects[2].after;
    assert!(after.contains(&name("of-files")), "by way of another project");
    assert!(!after.contains(&name("elsewhere")), "a prefetched wheel needs no project: {after:?}");
    let problems = case("").problems();
    let missing = |text: &str| problems.iter().any(|problem| problem.contains(text));
    assert!(missing("wheel `of-none`, needed to build projects, is missing"), "{problems:?}");
    assert_eq!(problems.len(), 1, "with versions, pip's own indexes are asked: {problems:?}");
}

#[test]
fn projects_alone_are_planned_against_an_installed_tree() {
    let more = r#"
every-project { env "TARGETS" "{isas}"; env "ROOT" "{devel}"; }
native-project "graph" { source "graph"; cmake "-DGPU={isas}"; }
python-project "user" {
    source "user"
    after "core-not"
    test-requires "x-core" "pytest"
    test "{python}" "-m" "pytest"
}
python-project "core-not" optional="elsewhere" { source "not"; }
"#;
    let packages = [runtime("core", "artifact \"base\" \"lib\""), more.to_owned()];
    let plan = |only: &'static str, families: &[&str]| {
        let case = Case::new(&packages, "").asking(|request| {
            let projects = ["graph", "user"].map(|text| (name(text), 0)).into();
            request.sources = Some(Sources { projects, ..Sources::default() });
            request.only = only.split_whitespace().map(|word| word.parse().unwrap()).collect();
        });
        let case = if families.is_empty() { case } else { case.linux(families) };
        plan::resolve::plan_installed(&case.manifest(), &case.request).map_err(|p| Case::texts(&p))
    };
    let user = plan("user", &[]).unwrap();
    assert_eq!(
        (projects(&user), user.distributions.len(), user.devel.is_none()),
        (vec!["user"], 0, true)
    );
    let project = &user.projects[0];
    assert!(project.devel, "the tree counts as its devel tree");
    assert_eq!(project.environment.keys().collect::<Vec<_>>(), ["ROOT"], "no ISA is known");
    let requires = &project.tests.as_ref().unwrap().requires;
    assert_eq!(requires, &["pytest"], "the tree has what the package x-core has");
    let both = plan("", &["gfx110X-all"]).unwrap();
    assert_eq!(projects(&both), ["graph", "user"]);
    let graph = both.projects[0].native.as_ref().unwrap().cmake.as_ref().unwrap();
    assert_eq!(*graph, ["-DGPU=gfx1100;gfx1101"]);
    for (only, says) in [
        ("graph", "project `graph` is for the ISAs of the build, and this build has none"),
        ("core", "--only: `core` is not a project, and there are no artifacts"),
        ("core-not", "the source of project `core-not` is missing"),
    ] {
        let problems = plan(only, &[]).unwrap_err();
        assert!(problems.iter().any(|p| p.contains(says)), "{only}: {problems:?}");
    }
}

#[test]
fn isas_of_one_wavefront_are_listed_and_without_one_the_plan_fails() {
    let families = r#"
isa "gfx906" wave=64 product="A"
isa "gfx942" wave=64 product="B"
isa "gfx1100" wave=32 product="C"
isa "gfx1101" product="D"
"#;
    let more = r#"
variable "wide" "{isas:wave64}"
native-project "graph" { source "graph"; cmake "-DGPU={wide}" "-DALL={isas}"; }
"#;
    let takes = "artifact \"base\" \"lib\"";
    let plan = |families: &'static str, isas: &[&str], variable: Option<&str>| {
        let case = Case::new(&[runtime("core", takes), more.to_owned()], "").families(families);
        let case = case.linux(isas).asking(|request| {
            let projects = [(name("graph"), 0)].into();
            request.sources = Some(Sources { projects, ..Sources::default() });
            request.variables =
                variable.map(|v| ("wide".to_owned(), v.to_owned())).into_iter().collect();
        });
        plan::resolve::plan_installed(&case.manifest(), &case.request).map_err(|p| Case::texts(&p))
    };
    let given = |plan: Plan| plan.projects[0].native.clone().unwrap().cmake.unwrap();
    let all = ["gfx906", "gfx942", "gfx1100", "gfx1101"];
    assert_eq!(
        given(plan(families, &all, None).unwrap()),
        ["-DGPU=gfx906;gfx942", "-DALL=gfx906;gfx942;gfx1100;gfx1101"]
    );
    let narrow = ["gfx1100", "gfx1101"];
    let problems = plan(families, &narrow, None).unwrap_err();
    let says = "project `graph` is for wavefronts of 64, which no ISA of this build has";
    assert!(problems.iter().any(|p| p.contains(says)), "{problems:?}");
    let own = given(plan(families, &narrow, Some("gfx1100")).unwrap());
    assert_eq!(own[0], "-DGPU=gfx1100", "a given value needs no ISA of that wavefront");
}
