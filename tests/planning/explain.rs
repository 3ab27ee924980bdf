//! Explanation of a path: its owner, each rule's effect, its place.

use base::names::Mode;
use plan::resolve::explain::{
    Argument, Explainer, ManifestByMode, Reason, Says, explanation_text, matches_text,
};

use super::support::{Case, devel, package, runtime};

/// Returns a case with every possible outcome for a path.
fn case() -> Case {
    let packages = [
        runtime(
            "core",
            "artifact \"base\" \"lib\" \"run\"\nartifact \"more\" \"lib\"\nrpath \"core\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"\nexclude \"share/out/**\"\nfind-library \"x\" so=\"lib/libx.so*\"\nscript \"tool\" program=\"bin/tool\"",
        ),
        runtime("tools", "artifact \"tools\" \"run\"\ninclude \"bin/t-*\""),
        package(
            "device",
            "runtime",
            "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\" mode=\"kpack\"",
            "overlay \"core\"\nartifact \"blas\" \"lib\"",
        ),
        devel(
            "artifacts-of \"core\" \"tools\" \"device\"\nartifact \"extra\" optional=\"-\"\nwithout-artifact \"tools\"\nwithout-component \"test\"\nkeep-link \"bin/link\"",
        ),
        "drop \"**\" component=\"test\" reason=\"tests are not shipped\"\n".to_owned(),
        "system-library \"libc.so.6\" \"libm.so.6\"\nignore \"unresolved-library\" \"libno.so.*\" reason=\"not in every build\"\n".to_owned(),
    ];
    let entries = "base_lib_generic lib/libx.so.1.0 so libx.so.1 runpath=$ORIGIN glibc=2.17
                   base_lib_generic lib/libx.so.1 link libx.so.1.0
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic share/same text a
                   base_run_generic share/same text a x=yes
                   more_lib_generic share/same text a
                   more_lib_generic share/out/a text a
                   base_run_generic bin/tool exe needs=libx.so.1,libm.so.6,libno.so.1,libc.so.6
                   base_run_generic bin/link link tool
                   base_run_generic bin dir
                   base_test_generic t/b text t
                   base_doc_generic share/doc/b/LICENSE text b
                   tools_run_generic bin/t-one script
                   tools_run_generic bin/other script
                   blas_lib_gfx942 k/gfx942 text b
                   blas_lib_gfx1100 k/gfx1100 text b
                   blas_lib_gfx906 k/gfx906 text b
                   left_lib_generic l/eft text l";
    Case::new(&packages, entries)
        .linux(&["gfx942", "gfx1100"])
        .asking(|r| r.mode = Some(Mode::Kpack))
}

/// Compares with `tests/fixtures/explain/NAME.txt`, which `./tasks accept planning::` rewrites.
fn compare(name: &str, found: &str) {
    let found: String = found.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    workbench::expected::compare(&format!("tests/fixtures/explain/{name}.txt"), &found);
}

#[test]
fn needs_of_windows_libraries_are_shown() {
    let entries =
        "base_run_generic bin/blas.dll dll rocblas.dll needs=KERNEL32.dll delayed=solver.dll
                   base_run_generic bin/odd.dll broken-dll";
    let case = Case::new(&[runtime("core", "artifact \"base\" \"run\"")], entries);
    let (blas, odd) =
        (explain_briefly(&case, "bin/blas.dll"), explain_briefly(&case, "bin/odd.dll"));
    assert!(blas.contains("in base_run_generic: PE file, "), "{blas}");
    let needs = "library for x86-64, named rocblas.dll, needs KERNEL32.dll, solver.dll";
    assert!(blas.contains(needs), "{blas}");
    assert!(odd.contains("broken PE file (Magic at 0x98 is 0x107)"), "{odd}");
}

fn explain_briefly(case: &Case, path: &str) -> String {
    explain(case, path, false)
}

fn explain(case: &Case, path: &str, verbose: bool) -> String {
    let manifest = case.manifest();
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    let explainer =
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap();
    let Argument::Path(path) = explainer.find(path).unwrap() else { panic!("{path} is not known") };
    explanation_text(&explainer.explain(&path), verbose)
}

#[test]
fn a_library_link_that_an_alias_rule_asks_for() {
    compare("a-library-link-that-an-alias-rule-asks-for", &explain_briefly(&case(), "lib/libx.so"));
}

#[test]
fn a_library_that_is_shipped_under_its_soname() {
    compare(
        "a-library-that-is-shipped-under-its-soname",
        &explain(&case(), "lib/libx.so.1.0", true),
    );
}

#[test]
fn one_content_of_several_artifacts() {
    compare("one-content-of-several-artifacts", &explain_briefly(&case(), "share/same"));
}

#[test]
fn what_is_excluded_dropped_left_over_or_not_built() {
    let paths =
        ["share/out/a", "t/b", "bin/other", "l/eft", "k/gfx906", "k/gfx942", "share/doc/b/LICENSE"];
    compare(
        "what-is-excluded-dropped-left-over-or-not-built",
        &paths.map(|path| explain_briefly(&case(), path)).join("\n--------\n"),
    );
}

/// Rules apply to files: a rule that matches a directory has no effect on it, and its files stay.
#[test]
fn directories_and_globally_dropped_files_are_explained() {
    let packages = [
        runtime(
            "core",
            "artifact \"base\" \"lib\"\nexclude \"share/doc\"\nexclude \"share/out/**\"",
        ),
        devel("artifacts-of \"core\""),
        "drop \"share/all/**\" everywhere=#true reason=\"nobody wants it\"\n".to_owned(),
    ];
    let entries = "base_lib_generic share dir
                   base_lib_generic share/doc dir
                   base_lib_generic share/doc/a text a
                   base_lib_generic share/out dir
                   base_lib_generic share/out/b text b
                   base_lib_generic share/all dir
                   base_lib_generic share/all/c text c";
    let case = Case::new(&packages, entries).asking(|r| r.mode = Some(Mode::Kpack));
    let all = ["share/doc", "share/doc/a", "share/out", "share/all", "share/all/c"];
    compare(
        "directories-and-what-is-dropped-everywhere",
        &all.map(|path| explain_briefly(&case, path)).join("\n"),
    );
}

#[test]
fn links_programs_and_directories() {
    compare(
        "links-programs-and-directories",
        &["bin/link", "bin/tool", "bin"]
            .map(|path| explain_briefly(&case(), path))
            .join("\n--------\n"),
    );
}

#[test]
fn every_library_that_a_program_needs_in_full() {
    compare("every-library-that-a-program-needs-in-full", &explain(&case(), "bin/tool", true));
}

#[test]
fn a_library_that_is_not_found() {
    let case = Case::new(
        &[runtime("core", "artifact \"base\" \"lib\"")],
        "base_lib_generic lib/liba.so.1 so liba.so.1 needs=libb.so.1,libc.so.1\nbase_lib_generic lib/sub/libb.so.1 so libb.so.1\nleft_lib_generic lib/libc.so.1 so libc.so.1",
    );
    compare(
        "a-library-that-is-not-found",
        &explain_briefly(&case.asking(|r| r.mode = Some(Mode::Kpack)), "lib/liba.so.1"),
    );
}

#[test]
fn a_path_of_site_packages_is_the_installed_one() {
    let case = case();
    assert_eq!(
        explain_briefly(&case, "_x_core/lib/libx.so"),
        explain_briefly(&case, "lib/libx.so")
    );
    assert_eq!(explain_briefly(&case, "./lib/libx.so/"), explain_briefly(&case, "lib/libx.so"));
    let rendered = explain_briefly(&case, "x_core/_dist_info.py");
    assert!(
        rendered.contains("no artifact has it") && rendered.contains("text that rockpack makes"),
        "{rendered}"
    );
}

#[test]
fn both_modes_are_told_of_when_none_is_asked_for() {
    let case = case().asking(|r| (r.mode, r.linux_families) = (None, None));
    compare("both-modes-are-told-of-when-none-is-asked-for", &explain_briefly(&case, "k/gfx942"));
}

/// Explanations are needed when planning fails, so the rules are shown anyway.
#[test]
fn a_conflict_is_told_though_there_is_no_plan() {
    let packages = [runtime("core", "artifact \"base\" \"lib\"\nartifact \"more\" \"lib\"")];
    let case = Case::new(&packages, "base_lib_generic a text 1\nmore_lib_generic a text 2")
        .asking(|r| r.mode = Some(Mode::Kpack));
    compare("a-conflict-is-told-though-there-is-no-plan", &explain_briefly(&case, "a"));
}

#[test]
fn explanations_are_data_too() {
    let case = case();
    let manifest = case.manifest();
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    let explainer =
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap();
    let explanation = explainer.explain(&"share/same".parse().unwrap());
    let core = &explanation.modes[0].distributions[0];
    let choice = core.choice.as_ref().unwrap();
    assert_eq!((choice.why, choice.others.len()), (Reason::Executable, 2));
    assert_eq!(choice.origin.artifact.to_string(), "base_run_generic");
    assert_eq!(core.rules.iter().filter(|r| r.says == Says::Takes).count(), 3);
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["modes"][0]["distributions"][0]["lands"][0]["step"], "copy");
    assert_eq!(
        json["modes"][0]["distributions"][0]["rules"][0]["rule"]["text"],
        "artifact \"base\" \"lib\" \"run\""
    );
    assert_eq!(json["found"][0]["kind"]["file"]["size"], 10);
}

/// The explanation uses the selection itself, so it agrees with the plan.
#[test]
fn every_path_lands_where_the_plan_has_it() {
    let case = case();
    let (manifest, plan) = (case.manifest(), case.plan());
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    let explainer =
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap();
    for distribution in &plan.distributions {
        let root = format!("{}/", distribution.platform_dir.as_ref().unwrap());
        for member in distribution.all_members() {
            let path = member.path.as_str().strip_prefix(&root).unwrap_or(member.path.as_str());
            let explanation = explainer.explain(&path.parse().unwrap());
            let here = explanation.modes[0]
                .distributions
                .iter()
                .find(|d| d.name == distribution.name && d.variant == distribution.variant);
            let landed = here
                .unwrap()
                .lands
                .iter()
                .find(|l| l.member.path == member.path)
                .unwrap_or_else(|| panic!("{path} lands"));
            assert_eq!(landed.member.step, member.step);
            let heard = here
                .unwrap()
                .rules
                .iter()
                .filter_map(|r| r.rule.as_ref())
                .any(|rule| *rule.place == *member.rule);
            assert!(
                heard || &*member.rule == "rockpack",
                "{path}: {} is among the rules",
                member.rule
            );
        }
    }
    for unowned in &plan.unowned {
        let explanation = explainer.explain(&unowned.origin.path);
        assert!(
            explanation.modes[0].unowned.contains(&unowned.origin.artifact),
            "{}",
            unowned.origin
        );
    }
}

#[test]
fn globs_list_and_unknown_paths_offer_near_ones() {
    let case = case();
    let manifest = case.manifest();
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    let explainer =
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap();
    let Argument::Glob(paths) = explainer.find("lib/lib*").unwrap() else { panic!() };
    compare(
        "globs-list-and-unknown-paths-offer-near-ones",
        &matches_text(&explainer.matches(paths).matches, false),
    );
    assert!(
        matches!(explainer.find("lib/*.none").unwrap(), Argument::Glob(paths) if paths.is_empty())
    );
    let near = |text: &str| match explainer.find(text).unwrap() {
        Argument::Unknown(near) => near.iter().map(ToString::to_string).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(near("libx.so.1")[0], "lib/libx.so.1", "a directory was left out");
    assert_eq!(near("lib/libx.so.2")[..3], ["lib/libx.so", "lib/libx.so.1", "lib/libx.so.1.0"]);
    assert!(near("zzzzzzzz").is_empty());
    assert!(explainer.find("../x").unwrap_err().contains("`..`"));
    assert!(explainer.find("/lib/x").unwrap_err().contains("absolute"));
}

/// Libraries are searched in all packages, even if only one is shown.
#[test]
fn a_single_package_is_explained() {
    let only = |name: &str| case().asking(|r| r.only = vec![name.parse().unwrap()]);
    let text = explain_briefly(&only("tools"), "bin/tool");
    assert!(!text.contains("rules"), "{text}");
    let text = explain_briefly(&only("core"), "bin/tool");
    assert!(
        text.contains("_x_core/lib/libx.so.1 of x-core") && !text.contains("x-devel"),
        "{text}"
    );
    let case = only("none");
    let manifest = case.manifest();
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    assert!(
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request)
            .unwrap_err()
            .blame_usage()
    );
}

#[test]
fn a_request_that_cannot_be_is_an_error() {
    let case = case().asking(|r| r.suffix = "not a suffix".to_owned());
    let manifest = case.manifest();
    let by_mode = ManifestByMode::new(&manifest, &case.catalog, &case.request);
    let problems =
        Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap_err();
    assert!(problems.blame_usage());
}
