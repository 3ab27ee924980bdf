//! Metadata of packages: scripts, licence texts, platform tag, compression.

use super::support::{
    Case, absent, devel, device, distribution, files, package, rendered, runtime,
};

use base::names::Compression;
use plan::resolve::without_license_text;
use plan::{Member, Plan, Step};
use review::diff::Contents;
use review::summary_text;

const SCRIPTS: &str = "artifact \"base\" \"lib\"
    script \"tool\" program=\"bin/tool\"
    script \"c++tool\" program=\"bin/link\" expand-devel=#true
    script \"gone\" program=\"bin/gone\" optional=\"not in every build\"
    script \"windows\" program=\"bin/tool\" on=\"windows\"
    script \"linux\" program=\"bin/tool\" on=\"linux\"
    script \"self\" function=\"_main:run\"";

const ENTRIES: &str = "base_lib_generic bin/tool script
                       base_lib_generic bin/link link tool
                       base_lib_generic bin/info.exe data 5";

fn scripts(case: &Case) -> Vec<String> {
    distribution(&case.plan(), "x-core")
        .entry_points
        .iter()
        .map(|(name, start)| format!("{name} = {start}"))
        .collect()
}

#[test]
fn a_script_without_its_program_is_not_registered() {
    let case = Case::new(&[runtime("core", SCRIPTS)], ENTRIES);
    assert_eq!(
        scripts(&case),
        [
            "c++tool = x_core._cli:c_2b__2b_tool",
            "linux = x_core._cli:linux",
            "self = x_core._main:run",
            "tool = x_core._cli:tool"
        ]
    );
    let plan = case.plan();
    let cli = rendered(&plan, "x-core", "x_core/_cli.py");
    assert_eq!(cli.matches("def ").count(), 3);
    assert!(cli.contains("def c_2b__2b_tool() -> None:\n    start(\"c++tool\")\n"), "{cli}");
    // The runtime expects every listed program to exist.
    let facts = rendered(&plan, "x-core", "x_core/_dist_info.py");
    for (name, told) in [("tool", true), ("linux", true), ("gone", false), ("windows", false)] {
        assert_eq!(facts.contains(&format!("\"{name}\": {{")), told, "{name}: {facts}");
    }
}

/// Other projects import the names of the whole set from any package of it.
#[test]
fn each_wheel_knows_the_set_and_does_not_depend_on_its_targets() {
    let lines = "artifact \"a\" \"lib\"\nfind-library \"t\" so=\"bin/tool*\"";
    let selector = package(
        "meta",
        "selector",
        "\"x\" module=\"x_meta\" per=\"none\"",
        "requires \"core\"\nextra \"device-{isa}\" package=\"device\" offer=\"each\"",
    );
    let facts = |targets: &[&str]| {
        let code = |isa: &str| format!("\na_lib_{isa} lib/{isa}.co text {isa}");
        let entries = "a_lib_generic bin/tool text tool".to_owned();
        let entries = entries + &targets.iter().map(|isa| code(isa)).collect::<String>();
        let packages = [selector.clone(), runtime("core", lines), device("artifact \"a\" \"lib\"")];
        let plan = Case::new(&packages, &entries).plan();
        rendered(&plan, "x-core", "x_core/_dist_info.py").into_owned()
    };
    let told = facts(&["gfx942"]);
    for row in [
        "\"selector\": {\n        \"distribution\": \"x\",\n        \"module\": \"x_meta\",\n        \"package\": \"meta\",\n    },",
        "\"distribution\": \"x-device-{isa}\",\n            \"extra\": \"device-{isa}\",",
        "\"t\": {\n            \"linux\": \"bin/tool*\",",
    ] {
        assert!(told.contains(row), "{row}\n{told}");
    }
    assert!(!told.contains("gfx942"), "{told}");
    assert_eq!(told, facts(&["gfx942", "gfx1100"]));
}

/// The template's import package has another name.
#[test]
fn a_selectors_sources_get_the_name_of_its_module() {
    let selector = package("meta", "selector", "\"x\" module=\"other_sdk\" per=\"none\"", "");
    let mut case = Case::new(&[selector], ENTRIES);
    let file = |path: &str| (path.parse().unwrap(), String::new());
    let files =
        ["backend/b.py", "pyproject.toml", "src/template/__init__.py", "src/template/a/b.py"];
    case.templates.insert("meta".to_owned(), files.map(file).to_vec());
    case.templates.insert("common".to_owned(), vec![file("_names.py"), file("_dist_info.py")]);
    let plan = case.plan();
    let members = distribution(&plan, "x").members.iter().map(|member| member.path.to_string());
    let expected = [
        "backend/b.py",
        "pyproject.toml",
        "src/other_sdk/__init__.py",
        "src/other_sdk/_dist_info.py",
        "src/other_sdk/_names.py",
        "src/other_sdk/a/b.py",
    ];
    assert_eq!(members.collect::<Vec<_>>(), expected);
    let facts = rendered(&plan, "x", "src/other_sdk/_dist_info.py");
    assert!(facts.contains("\"command\": \"python -m other_sdk\","), "{facts}");
}

#[test]
fn missing_targets_of_scripts_and_libraries_are_reported() {
    let lines = format!(
        "{SCRIPTS}\nfind-library \"tool\" so=\"bin/to*\"\nfind-library \"x\" so=\"lib/libx.so*\" dll=\"bin/x.dll\"\nfind-library \"y\" so=\"lib/y.so\" optional=\"why\""
    );
    let (plan, warnings) = Case::new(&[runtime("core", &lines)], ENTRIES).plan_and_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("package `core` lacks a library that the runtime finds by name\n"),
        "{warnings:?}"
    );
    assert!(
        warnings[0].contains(
            "find-library \"x\" so=\"lib/libx.so*\" dll=\"bin/x.dll\" <- no file matches `lib/libx.so*`\n"
        ),
        "{warnings:?}"
    );
    assert_eq!(
        absent(&plan, "x-core"),
        [
            "bin/gone: missing: no script `gone`",
            "lib/libx.so*: missing: the runtime will not find library `x`"
        ]
    );
}

#[test]
fn on_windows_programs_end_in_exe() {
    let lines = "artifact \"base\" \"lib\"\nscript \"info\" program=\"bin/info\" on=\"windows\"\nscript \"tool\" program=\"bin/tool\" on=\"linux\"";
    let entries = "base_lib_generic bin/info.exe dll info.exe";
    let case = Case::new(&[runtime("core", lines)], entries)
        .asking(|r| r.platform_tag = Some("win_amd64".parse().unwrap()));
    assert_eq!(scripts(&case), ["info = x_core._cli:info"]);
}

#[test]
fn a_program_without_its_script_is_a_warning() {
    let warnings = |lines: &str| {
        let lines = format!("artifact \"base\" \"lib\"\n{lines}");
        let entries = "base_lib_generic bin/info.exe dll info.exe";
        let case = Case::new(&[runtime("core", &lines)], entries)
            .asking(|r| r.platform_tag = Some("win_amd64".parse().unwrap()));
        case.plan_and_warnings().1
    };
    let linux = "script \"info\" program=\"bin/info\" on=\"linux\"";
    let found = warnings(linux);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("package `core` ships `bin/info` without its script `info`\n"));
    let windows = "script \"info\" program=\"bin/info\" on=\"windows\" optional=\"why\"";
    assert!(warnings(&format!("{linux}\n{windows}")).is_empty());
}

#[test]
fn without_scripts_there_is_no_module_for_them() {
    let plan = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], ENTRIES).plan();
    assert!(
        distribution(&plan, "x-core").members.iter().all(|m| !m.path.as_str().ends_with("_cli.py"))
    );
}

#[test]
fn licence_texts_of_all_that_a_package_ships_are_in_its_metadata() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("other", "artifact \"blas\" \"lib\""),
    ];
    let entries = "base_lib_generic a text a
                   base_doc_generic share/doc/base/LICENSE.txt text base
                   base_dev_generic share/doc/base/LICENSE.txt text base
                   blas_lib_generic b text b
                   blas_lib_generic share/doc/blas/LICENSE text blas";
    let plan = Case::new(&packages, entries).plan();
    let texts = |name: &str| {
        let licenses = &distribution(&plan, name).licenses;
        licenses
            .iter()
            .map(|m| {
                format!(
                    "{} {}",
                    m.path,
                    m.step.source().map(|s| s.artifact.to_string()).unwrap_or_default()
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("x-core"), ["LICENSE ", "share/doc/base/LICENSE.txt base_dev_generic"]);
    assert_eq!(texts("x-other"), ["LICENSE ", "share/doc/blas/LICENSE blas_lib_generic"]);
    assert!(
        files(&plan, "x-other")
            .contains(&"share/doc/blas/LICENSE copy blas_lib_generic".to_owned()),
        "and where the build puts it"
    );
    assert!(
        distribution(&plan, "x-core").members.iter().all(|m| m.path.as_str() != "x_core/LICENSE"),
        "the template's text is metadata"
    );
}

#[test]
fn licence_texts_follow_shipped_files_instead_of_rules() {
    let packages = [
        runtime(
            "core",
            "artifact \"base\" \"lib\"\nartifact \"blas\" \"lib\" optional=\"-\"\nexclude \"lib/*\"",
        ),
        devel("artifacts-of \"core\"\nartifact \"extra\""),
    ];
    let entries = "base_lib_generic bin/a text a
                   base_doc_generic share/doc/base/LICENSE text base
                   blas_lib_generic lib/b text b
                   blas_doc_generic share/doc/blas/LICENSE text blas
                   extra_dev_generic include/e.h text e
                   extra_dev_generic include/sub/LICENSE text not where the globs say";
    let plan = Case::new(&packages, entries).plan();
    let texts = |name: &str| {
        distribution(&plan, name).licenses.iter().map(|m| m.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(texts("x-core"), ["LICENSE", "share/doc/base/LICENSE"], "no file of blas is in it");
    assert_eq!(
        texts("x-devel"),
        ["LICENSE", "share/doc/base/LICENSE", "share/doc/blas/LICENSE"],
        "in the archive are headers and texts"
    );
    let lacking: Vec<String> = without_license_text(&plan)
        .into_iter()
        .map(|(artifact, wheels)| format!("{artifact} {wheels:?}"))
        .collect();
    assert_eq!(lacking, ["extra [DistName(\"x-devel\")]"]);
}

#[test]
fn a_selectors_licence_text_is_listed_as_one() {
    let selector = package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", "");
    let mut case = Case::new(&[selector], ENTRIES);
    case.templates.insert(
        "meta".to_owned(),
        vec![
            ("LICENSE".parse().unwrap(), "MIT".to_owned()),
            ("pyproject.toml".parse().unwrap(), String::new()),
        ],
    );
    let plan = case.plan();
    let paths = |members: &[Member]| members.iter().map(|m| m.path.to_string()).collect::<Vec<_>>();
    assert_eq!(paths(&distribution(&plan, "x").licenses), ["LICENSE"]);
    assert_eq!(paths(&distribution(&plan, "x").members), ["pyproject.toml", "src/x/_dist_info.py"]);
}

/// Returns a case with a package without a licence, in a project that gives the licence of its
/// artifacts.
fn composed(terms: &str, lines: &str) -> Case {
    let package = runtime("core", lines).replace("    license \"MIT\"\n", "");
    let project = format!("common {{ author \"A\"; requires-python \">=3.10\"; {terms} }}\n");
    let entries = "base_lib_generic a text a
                   base_doc_generic c text c
                   blas_lib_generic b text b";
    Case::with_project(&project, &[package], entries)
}

#[test]
fn a_licence_is_composed_of_the_licences_of_shipped_artifacts() {
    let both = "artifact \"base\" \"lib\"\nartifact \"blas\" \"lib\"";
    let license = |terms: &str, lines: &str| {
        distribution(&composed(terms, lines).plan(), "x-core").metadata.license.clone()
    };
    let terms =
        r#"license-of "base" spdx="Zlib OR ISC"; license-of "blas" spdx="BSD-3-Clause AND MIT""#;
    assert_eq!(license(terms, both), "BSD-3-Clause AND MIT AND (Zlib OR ISC)");
    let narrowed =
        "artifact \"base\" \"lib\" optional=\"-\"\nartifact \"blas\" \"lib\"\nexclude \"a\"";
    assert_eq!(license(terms, narrowed), "BSD-3-Clause AND MIT", "no file of base is in it");
    let bare = r#"license-of "base" spdx="ISC"; license-of "blas" spdx="ISC""#;
    assert_eq!(
        license(bare, both),
        "ISC AND MIT",
        "the Python sources of every package have a licence too"
    );
}

#[test]
fn a_licence_with_an_unknown_part_is_refused() {
    let problem = composed(
        r#"license-of "base" spdx="MIT""#,
        "artifact \"base\" \"lib\"\nartifact \"blas\" \"lib\" optional=\"not always\"",
    )
    .problem();
    assert_eq!(
        problem,
        "the licence of package `core` is incomplete\n  package \"core\" kind=\"runtime\" { <- no licence is given for blas\n  help: add `license-of \"blas\" spdx=\"…\"` to `common`, or a `license` line to the package\n"
    );
}

#[test]
fn deprecated_identifiers_are_a_warning_with_their_successors() {
    let package = runtime("core", "artifact \"base\" \"lib\"")
        .replace("license \"MIT\"", "license \"GPL-2.0 AND MIT\"");
    let warnings = Case::new(&[package], ENTRIES).manifest().warnings();
    let told: Vec<String> = warnings
        .iter()
        .map(|p| format!("{}: {} ({})", p.code(), p.message(), p.remedy().unwrap_or_default()))
        .collect();
    assert_eq!(
        told,
        [
            "deprecated-license: `GPL-2.0` is a deprecated SPDX identifier (write `GPL-2.0-only` or `GPL-2.0-or-later`)"
        ]
    );
}

#[test]
fn an_unknown_template_is_an_error_with_the_list_of_templates() {
    let mut case = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], ENTRIES);
    case.templates.remove("runtime");
    assert_eq!(
        case.problem(),
        "unknown template `runtime`\n  template \"runtime\" <- the templates are meta\n"
    );
}

/// A page for index servers is optional; a given one is used unchanged.
#[test]
fn a_package_has_a_readme_or_a_page_of_what_is_known() {
    let packages = |readme: &str| {
        [
            package(
                "meta",
                "selector",
                "\"x\" module=\"x\" per=\"none\"",
                "requires \"core\"
                extra \"gpu-{isa}\" package=\"device\" offer=\"each\"
                extra \"gpu\" package=\"device\" offer=\"all\"
                extra \"devel\" package=\"devel\"
                script \"x-sdk\" function=\"_main:run\"",
            ),
            runtime("core", "artifact \"base\" \"lib\"\nscript \"a_tool\" program=\"bin/tool\""),
            super::support::device(&format!(
                "overlay \"core\"\nrequires \"core\"\nartifact \"dev\" \"lib\"\n{readme}"
            )),
            devel("artifacts-of \"core\""),
        ]
    };
    let entries = "base_lib_generic bin/tool script
                   dev_lib_gfx942 lib/d_942.co data 5
                   dev_lib_gfx1100 lib/d_1100.co data 5";
    let description = |plan: &Plan, name: &str| {
        let found = distribution(plan, name).metadata.description.clone().unwrap();
        assert_eq!(found.content_type == "text/x-rst", found.text.starts_with("d/x.rst"));
        found.text
    };
    let plan = Case::new(&packages(""), entries).plan();
    let pages = ["x", "x-core", "x-device-gfx942", "x-devel"].map(|name| description(&plan, name));
    let file = "tests/fixtures/planning/descriptions.txt";
    workbench::expected::compare(file, &pages.join("--------\n"));
    let plan = Case::new(&packages("readme \"d/x.rst\""), entries).plan();
    assert_eq!(description(&plan, "x-device-gfx942"), "d/x.rst\nfor gfx942 {other}\n");
    assert_eq!(description(&plan, "x-core"), pages[1]);
}

#[test]
fn the_platform_tag_is_the_best_that_is_true_of_all_that_is_shipped() {
    let plan = |entries: &str| {
        let packages = [runtime("core", "artifact \"base\" \"lib\"")];
        Case::new(&packages, &format!("base_lib_generic a text a\n{entries}"))
            .asking(|r| r.platform_tag = None)
            .plan()
    };
    let tag = |entries: &str| plan(entries).platform_tag;
    let old = "base_lib_generic lib/a.so so - glibc=2.5";
    assert_eq!(tag(old), "manylinux_2_5_x86_64");
    let newer = plan(&format!(
        "{old}\nbase_lib_generic lib/b.so so - glibc=2.28\nbase_lib_generic lib/c.so so - glibc=2.9"
    ));
    assert_eq!(newer.platform_tag, "manylinux_2_28_x86_64");
    let why = "the platform tag is manylinux_2_28_x86_64, not manylinux_2_27_x86_64: `_x_core/lib/b.so` needs GLIBC_2.28 of libc.so.6";
    assert_eq!(newer.notes, [why]);
    assert_eq!(
        tag(&format!("{old}\nbase_dev_generic lib/b.so so - glibc=2.40")),
        "manylinux_2_5_x86_64",
        "what is not shipped does not count"
    );
    assert_eq!(
        tag("base_lib_generic lib/a.so so - glibc=2.34 machine=aarch64"),
        "manylinux_2_34_aarch64"
    );
}

#[test]
fn only_libraries_of_the_system_prevent_a_manylinux_tag() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\"\nalias \"lib/libb.so\" as=\"forward\""),
        runtime("more", "requires \"core\"\nrpath \"core\" \"lib\"\nartifact \"more\" \"lib\""),
    ];
    let entries = "base_lib_generic lib/libb.so.1 so libb.so.1 glibc=2.17\nbase_lib_generic lib/libb.so link libb.so.1\nmore_lib_generic lib/libm.so so - needs=libb.so.1";
    let case = |entries: &str| Case::new(&packages, entries).asking(|r| r.platform_tag = None);
    assert_eq!(case(entries).plan().platform_tag, "manylinux_2_17_x86_64");
    let mut packages = packages.to_vec();
    packages.push("system-library \"libdrm.so.2\" reason=\"drivers bring it\"\n".to_owned());
    let plan = Case::new(
        &packages,
        &format!("{entries}\nmore_lib_generic lib/libn.so so - needs=libdrm.so.2"),
    )
    .asking(|r| r.platform_tag = None)
    .plan();
    let tag = |plan: &Plan, name: &str| plan.platform_tag_of(distribution(plan, name)).to_owned();
    assert_eq!(
        tag(&plan, "x-more"),
        "linux_x86_64",
        "drivers or not, a manylinux system need not have it"
    );
    assert_eq!(tag(&plan, "x-core"), "manylinux_2_17_x86_64");
}

/// A wheel has the tag of its own files; one without binaries has the most common tag.
#[test]
fn a_plugin_that_needs_more_changes_the_tag_of_its_wheel_alone() {
    let packages = |common: &str| {
        let named = |name: &str| runtime(name, &format!("artifact \"{name}\" \"lib\""));
        let mut packages = ["core", "more", "plugin", "data"].map(named).to_vec();
        packages.push("system-library \"libOpenCL.so.1\" reason=\"drivers bring it\"\n".to_owned());
        packages.push(common.to_owned());
        packages
    };
    let entries = "core_lib_generic lib/liba.so so - glibc=2.17
                   more_lib_generic lib/libb.so so - glibc=2.17
                   plugin_lib_generic lib/libp.so so - needs=libOpenCL.so.1
                   data_lib_generic share/d.txt text d";
    let plan = |common: &str| {
        Case::new(&packages(common), entries).asking(|r| r.platform_tag = None).plan()
    };
    let tags = |common: &str| {
        let plan = plan(common);
        let names = ["x-core", "x-more", "x-plugin", "x-data"];
        let tags = names.map(|name| plan.platform_tag_of(distribution(&plan, name)).to_owned());
        (tags, plan.notes.iter().map(|note| note.text.clone()).collect::<Vec<_>>())
    };
    let (old, newer) = ("manylinux_2_17_x86_64", "linux_x86_64");
    let why = "`_x_plugin/lib/libp.so` needs the library libOpenCL.so.1";
    let (each, notes) = tags("");
    assert_eq!(each, [old, old, newer, old]);
    for start in [
        &*format!("the platform tag of x-plugin is {newer}, not manylinux_2_5_x86_64: {why}"),
        "the platform tag of x-core and 1 more package is",
    ] {
        assert!(notes.iter().any(|note| note.starts_with(start)), "{notes:?}");
    }
    let (common, notes) = tags("change \"common\" { platform-tag \"common\"; }\n");
    assert_eq!(common, [newer; 4]);
    let start = format!("the platform tag is {newer}, not {old}: {why}");
    assert!(notes.iter().any(|note| note.starts_with(&start)), "{notes:?}");
    // Packages are compared with the tags of the planned ones among them.
    let mut plan = plan("");
    let tag = |plan: &Plan| Contents::of_plan("plan", plan).platform_tag.map(str::to_owned);
    assert_eq!(tag(&plan).as_deref(), Some(old));
    plan.distributions.retain(|distribution| distribution.name.as_str() == "x-plugin");
    assert_eq!(tag(&plan).as_deref(), Some(newer));
}

#[test]
fn a_product_without_isas_has_no_mode() {
    let packages = [runtime("core", "artifact \"base\" \"lib\"")];
    let case = Case::new(&packages, "base_lib_generic a text a");
    assert!(summary_text(&case.plan(), false).starts_with("version 1.0, kpack mode, platform"));
    let case = case.families("");
    assert_eq!(case.plan().mode, None);
    assert!(summary_text(&case.plan(), false).starts_with("version 1.0, platform"));
}

#[test]
fn refuses_packages_for_two_architectures() {
    let entries = "base_lib_generic lib/a.so so -\nblas_lib_generic lib/b.so so - machine=aarch64";
    let packages = ["base", "blas"]
        .map(|artifact| runtime(artifact, &format!("artifact \"{artifact}\" \"lib\"")));
    let case = Case::new(&packages, entries);
    assert!(case.problem().starts_with("x-blas: an ELF file for aarch64"), "{}", case.problem());
    let problem = case.asking(|r| r.platform_tag = None).problem();
    assert!(
        problem.starts_with("`_x_base/lib/a.so` is for x86_64, but `_x_blas/lib/b.so` for aarch64"),
        "{problem}"
    );
}

#[test]
fn without_a_binary_the_tag_has_to_be_given() {
    let case =
        Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], "base_lib_generic a text a")
            .asking(|r| r.platform_tag = None);
    assert_eq!(
        case.problem(),
        "no binary shows the platform of the wheels\n  help: give the tag: --platform-tag linux_x86_64\n"
    );
    assert!(case.resolve().unwrap_err().blame_usage());
}

#[test]
fn the_selector_is_an_sdist_with_all_requirements_in_its_metadata() {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"\nextra \"more\" package=\"core\"\nscript \"x\" function=\"__main__:main\"",
        ),
        runtime("core", "artifact \"base\" \"lib\""),
    ];
    let plan = Case::new(&packages, ENTRIES).plan();
    let meta = distribution(&plan, "x");
    assert_eq!(meta.form, plan::Form::Sdist);
    assert_eq!(meta.metadata.requires_dist, ["x-core==1.0", "x-core==1.0; extra == \"more\""]);
    assert_eq!(meta.metadata.provides_extra, ["more"]);
    assert_eq!(meta.entry_points["x"], "x_meta.__main__:main");
    assert!(meta.members.iter().all(|m| matches!(m.step, Step::Render { .. })));
    assert_eq!(meta.metadata.author, "A. Author");
    assert_eq!(meta.metadata.requires_python, ">=3.10");
}

#[test]
fn wheels_are_compressed_unless_storing_is_requested() {
    let case = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], ENTRIES);
    assert_eq!(distribution(&case.plan(), "x-core").compression, Compression::Default);
    let stored = case.asking(|r| r.compression = Some(Compression::Store));
    assert_eq!(distribution(&stored.plan(), "x-core").compression, Compression::Store);
}

#[test]
fn rules_say_how_files_are_compressed() {
    let entries = "base_lib_generic share/packed/a text a\nbase_lib_generic share/b text b\nbase_lib_generic lib/c.zst text c\nbase_lib_generic lib/d text d";
    let case = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], entries);
    let levels = |case: Case| {
        let plan = case.plan();
        let core = distribution(&plan, "x-core");
        let sourced = core.members.iter().filter(|m| m.step.source().is_some());
        let lines: Vec<String> = sourced
            .map(|m| format!("{} {}", m.path.file_name(), core.compression_of(&m.path)))
            .collect();
        lines.join(", ")
    };
    assert_eq!(levels(case.clone()), "c.zst store, d default, b max, a store");
    // The command line overrides all rules except `store` ones.
    assert_eq!(
        levels(case.clone().asking(|r| r.compression = Some(Compression::Fast))),
        "c.zst store, d fast, b fast, a store"
    );
    assert_eq!(
        levels(case.asking(|r| r.compression = Some(Compression::Store))),
        "c.zst store, d store, b store, a store"
    );
}

/// Page of index servers, and requirements of other projects: for all packages, and for one on one
/// system.
#[test]
fn urls_keywords_and_requirements_of_others_are_metadata() {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"\nrequires-dist \"packaging\"",
        ),
        runtime(
            "core",
            "artifact \"base\" \"lib\"
            url \"Source\" \"https://example.org/core\"
            classifier \"Topic :: Software Development\"
            keyword \"gpu\" \"hip\"
            requires-dist \"numpy>=2\"
            requires-dist \"pywin32\" on=\"windows\"",
        ),
    ];
    let case = Case::new(&packages, "base_lib_generic a text a");
    let plan = case.plan();
    let core = &distribution(&plan, "x-core").metadata;
    assert_eq!(core.requires_dist, ["numpy>=2"]);
    assert_eq!(core.classifiers, ["Topic :: Software Development"]);
    assert_eq!(core.keywords, ["gpu", "hip"]);
    assert!(core.urls.contains(&("Source".to_owned(), "https://example.org/core".to_owned())));
    let told = rendered(&plan, "x", "src/x_meta/_dist_info.py");
    assert!(told.contains("\"packaging\""), "{told}");
    let windows = case.asking(|request| {
        request.platform_tag = Some("win_amd64".parse().unwrap());
    });
    let plan = windows.plan();
    assert_eq!(distribution(&plan, "x-core").metadata.requires_dist, ["numpy>=2", "pywin32"]);
}

#[test]
fn modules_of_an_artifact_are_on_the_path_of_python() {
    let lines = "artifact \"base\" \"lib\"
        python-path \"core\" \"share/o\" \"share/gone\" optional=\"-\"";
    let more = "artifact \"more\" \"lib\"\npython-path \"core\" \"share/o\"\nrequires \"core\"";
    let packages = [runtime("core", lines), runtime("more", more)];
    let entries = "base_lib_generic share/o/o.py text o\nmore_lib_generic a text a";
    let plan = Case::new(&packages, entries).plan();
    assert_eq!(rendered(&plan, "x-core", "x_core.pth"), "_x_core/share/o\n");
    assert_eq!(rendered(&plan, "x-more", "x_more.pth"), "_x_core/share/o\n");
    let gone = [runtime("core", &lines.replace(" optional=\"-\"", ""))];
    let (_, warnings) = Case::new(&gone, entries).plan_and_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("package `core` has no directory `share/gone`"),
        "{warnings:?}"
    );
    let absent = [runtime("core", &lines.replace("\"share/o\" ", ""))];
    let plan = Case::new(&absent, entries).plan();
    let members = &distribution(&plan, "x-core").members;
    assert!(members.iter().all(|member| member.path.file_name().rsplit('.').next() != Some("pth")));
}

#[test]
fn the_selector_has_the_oldest_driver() {
    let meta = |lines: &str| {
        let distribution = "\"x\" module=\"x_meta\" per=\"none\"";
        package("meta", "selector", distribution, &format!("requires \"core\"\n{lines}"))
    };
    let facts = |lines: &str| {
        let packages = [meta(lines), runtime("core", "artifact \"base\" \"lib\"")];
        let plan = Case::new(&packages, "base_lib_generic a text a").plan();
        rendered(&plan, "x", "src/x_meta/_dist_info.py").into_owned()
    };
    let text = facts("driver module=\"6.2\"");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("\"driver\": { \"kernel\": None, \"module\": \"6.2\", }"), "{text}");
    assert!(!facts("").contains("\"driver\""));
}

#[test]
fn a_required_package_without_a_needed_library_is_noted() {
    let more = |lines: &str| {
        let packages = [
            runtime("core", "artifact \"base\" \"lib\""),
            runtime("more", &format!("requires \"core\"\nartifact \"more\" \"lib\"\n{lines}")),
            "system-library \"libc.so.6\"\n".to_owned(),
        ];
        let notes = |needs: &str| {
            let entries = format!(
                "base_lib_generic lib/libb.so.1 so libb.so.1\nmore_lib_generic lib/libm.so so - {needs}"
            );
            Case::new(&packages, &entries).plan().notes
        };
        (notes("needs=libc.so.6"), notes("needs=libb.so.1"))
    };
    let (unneeded, needed) = more("rpath \"core\" \"lib\"");
    let expected = "package `more` requires `core`, but none of its files needs a library of it";
    assert!(unneeded.iter().any(|note| note.text.starts_with(expected)), "{unneeded:?}");
    assert!(needed.is_empty(), "{needed:?}");
    let (overlay, _) = more("overlay \"core\"\nrpath \"core\" \"lib\"");
    assert!(overlay.iter().all(|note| !note.text.starts_with(expected)), "{overlay:?}");
}
