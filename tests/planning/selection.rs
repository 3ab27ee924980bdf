//! Selection of entries, and rules that match none.

use super::support::{Case, absent, archived, devel, distribution, files, runtime};

fn core(lines: &str, entries: &str) -> Case {
    Case::new(&[runtime("core", lines)], entries)
}

const TAKES: &str = "artifact \"base\" \"lib\"\nartifact \"extra\" \"lib\"";

#[test]
fn different_bytes_at_one_path_are_an_error_naming_both_artifacts() {
    let problem =
        core(TAKES, "base_lib_generic share/a text one\nextra_lib_generic share/a text two")
            .problem();
    assert_eq!(
        problem,
        "artifacts `base_lib_generic` and `extra_lib_generic` supply `share/a` of x-core with different content\n\x20 artifact \"base\" \"lib\" <- takes it from `base_lib_generic`\n\x20 artifact \"extra\" \"lib\" <- takes it from `extra_lib_generic`\n\x20 help: exclude it from one of the artifacts, or correct the build that installs it twice\n"
    );
}

#[test]
fn different_bytes_below_two_bases_of_one_artifact_name_the_bases() {
    let entries = "base_lib_generic share/a text one base=math/stage\nbase_lib_generic share/a text two base=ml/stage";
    let problem = core("artifact \"base\" \"lib\"", entries).problem();
    assert!(
        problem.starts_with(
            "artifact `base_lib_generic` supplies `share/a` of x-core from `math/stage` and from `ml/stage` with different content"
        ),
        "{problem}"
    );
}

#[test]
fn the_same_bytes_are_one_copy_and_the_plan_says_so() {
    let entries = "base_lib_generic share/a text one\nextra_lib_generic share/a text one\nextra_lib_generic share/b text b";
    let plan = core(TAKES, entries).plan();
    assert_eq!(
        files(&plan, "x-core"),
        ["share/a copy base_lib_generic", "share/b copy extra_lib_generic"]
    );
    assert_eq!(
        plan.notes,
        [
            "x-core: several artifacts supply 1 file with the same content, such as `share/a` by `base_lib_generic` and `extra_lib_generic`; the package has one copy"
        ]
    );
}

#[test]
fn equal_links_are_merged_and_a_link_with_a_file_is_a_conflict() {
    let base = "base_lib_generic f text f\nbase_lib_generic l link f\n";
    assert_eq!(
        files(&core(TAKES, &format!("{base}extra_lib_generic l link f")).plan(), "x-core").len(),
        2
    );
    assert!(
        core(TAKES, &format!("{base}extra_lib_generic l text f"))
            .problem()
            .contains("`l` of x-core")
    );
}

#[test]
fn a_file_that_may_be_executed_in_one_artifact_may_be_executed() {
    for (one, other) in [("yes", "no"), ("no", "yes")] {
        let plan = core(
            TAKES,
            &format!(
                "base_lib_generic bin/a script x={one}\nextra_lib_generic bin/a script x={other}"
            ),
        )
        .plan();
        assert!(files(&plan, "x-core")[0].ends_with(" x"), "{:?}", files(&plan, "x-core"));
    }
}

#[test]
fn an_artifact_that_is_not_there_is_an_error_with_the_nearest_name() {
    let problem = core(
        "artifact \"core-hpi\" \"lib\"\nartifact \"base\" \"lib\"",
        "core-hip_lib_generic a text a\nbase_lib_generic b text b",
    )
    .problem();
    assert_eq!(
        problem,
        "artifact `core-hpi` is missing\n  artifact \"core-hpi\" \"lib\" <- no such artifact; did you mean `core-hip`?\n  help: correct the name, remove the line, or give a reason: optional=\"…\"\n"
    );
}

#[test]
fn a_component_that_is_not_there_is_an_error_that_says_which_are() {
    let problem = core(
        "artifact \"base\" \"lib\" \"run\"",
        "base_lib_generic a text a\nbase_dev_generic b text b",
    )
    .problem();
    assert_eq!(
        problem,
        "artifact `base` has no component `run` for this package\n  artifact \"base\" \"lib\" \"run\" <- matches nothing; existing artifacts: base_lib_generic, base_dev_generic\n  help: correct the name, remove the line, or give a reason: optional=\"…\"\n"
    );
}

#[test]
fn a_generic_package_cannot_take_a_component_of_targets_only() {
    let problem = core(
        "artifact \"base\" \"lib\"\nartifact \"blas\" \"lib\"",
        "base_lib_generic a text a\nblas_lib_gfx942 b text b",
    )
    .problem();
    assert!(problem.contains("matches nothing; existing artifacts: blas_lib_gfx942"), "{problem}");
}

#[test]
fn an_optional_artifact_may_be_absent() {
    let plan = core(
        "artifact \"base\" \"lib\"\nartifact \"blas\" \"lib\" \"run\" optional=\"not always\"",
        "base_lib_generic a text a\nblas_lib_generic b text b",
    )
    .plan();
    assert_eq!(files(&plan, "x-core").len(), 2);
}

#[test]
fn a_glob_that_matches_nothing_is_an_error_with_the_nearest_path() {
    let lines = "artifact \"base\" \"lib\"\nexclude \"lib/librocprof-sis*\"";
    let problem =
        core(lines, "base_lib_generic lib/librocprof-sys.so text a\nbase_lib_generic b text b")
            .problem();
    assert_eq!(
        problem,
        "`lib/librocprof-sis*` of package `core` excludes nothing\n  exclude \"lib/librocprof-sis*\" <- no installed path matches; the nearest is `lib/librocprof-sys.so`\n  help: correct the glob, remove the line, or give a reason: optional=\"…\"\n"
    );
    let problem = core(
        "artifact \"base\" \"lib\"\ninclude \"b\"\ninclude \"BIN/*\"",
        "base_lib_generic bin/x text a\nbase_lib_generic b text b",
    )
    .problem();
    assert!(
        problem.starts_with("`BIN/*` of package `core` includes nothing"),
        "globs mind case: {problem}"
    );
    assert_eq!(
        files(
            &core(
                "artifact \"base\" \"lib\"\nexclude \"c\" optional=\"never\"",
                "base_lib_generic b text b"
            )
            .plan(),
            "x-core"
        )
        .len(),
        1
    );
}

#[test]
fn a_glob_over_paths_of_an_artifact_that_is_not_taken_says_which() {
    let problem = core(
        "artifact \"base\" \"lib\"\nexclude \"include/**\"",
        "base_lib_generic b text b\nbase_dev_generic include/x.h text x",
    )
    .problem();
    assert!(
        problem.contains("exclude \"include/**\" <- only artifacts outside of this package have such paths: base_dev_generic"),
        "{problem}"
    );
}

#[test]
fn includes_narrow_and_excludes_win() {
    let lines =
        "artifact \"base\" \"lib\"\ninclude \"bin/**\"\ninclude \"lib/*\"\nexclude \"**/cmake/**\"";
    let entries = "base_lib_generic bin/a script
                   base_lib_generic lib/b text b
                   base_lib_generic lib/deep/c text c
                   base_lib_generic bin/cmake/d text d
                   base_lib_generic share/empty dir";
    let case = core(lines, entries);
    let plan = case.plan();
    assert_eq!(
        files(&plan, "x-core"),
        ["bin/a copy base_lib_generic x", "lib/b copy base_lib_generic"]
    );
    let dropped = absent(&plan, "x-core");
    assert_eq!(dropped.len(), 1, "what is not included is somebody else's: {dropped:?}");
    assert!(dropped[0].starts_with("bin/cmake/d: excluded by packages.kdl:"), "{dropped:?}");
    let unowned: Vec<&str> = plan.unowned.iter().map(|u| u.origin.path.as_str()).collect();
    assert_eq!(unowned, ["bin/cmake/d", "lib/deep/c"]);
}

#[test]
fn rules_of_another_mode_do_not_count() {
    let lines = "artifact \"base\" \"lib\" optional=\"-\"\nartifact \"blas\" \"lib\" mode=\"legacy\"\nexclude \"a\" mode=\"legacy\"\ninclude \"b\" mode=\"legacy\"";
    let entries = "base_lib_generic a text a\nblas_lib_generic b text b";
    assert_eq!(files(&core(lines, entries).plan(), "x-core"), ["a copy base_lib_generic"]);
    assert_eq!(files(&core(lines, entries).legacy().plan(), "x-core"), ["b copy blas_lib_generic"]);
}

#[test]
fn a_package_of_which_everything_is_excluded_is_an_error() {
    let problem =
        core("artifact \"base\" \"lib\"\nexclude \"**\"", "base_lib_generic a text a").problem();
    assert!(problem.starts_with("x-core would be empty\n"), "{problem}");
    assert!(
        problem.contains(
            "distribution \"x-core\" module=\"x_core\" per=\"none\" <- no files are left"
        ),
        "{problem}"
    );
}

/// If all links dangle, the package is empty too.
#[test]
fn a_package_of_which_everything_is_dropped_is_an_error() {
    let problem = core("artifact \"base\" \"lib\"", "base_lib_generic a link gone").problem();
    assert!(problem.starts_with("x-core would be empty\n"), "{problem}");
}

#[test]
fn unowned_files_are_an_error_or_listed_with_their_size() {
    let case = core(
        "artifact \"base\" \"lib\"",
        "base_lib_generic a text a\nbase_dev_generic include/x.h data 700\nbase_dev_generic include dir",
    );
    let plan = case.plan();
    let unowned: Vec<String> =
        plan.unowned.iter().map(|u| format!("{} {}", u.origin, u.size)).collect();
    assert_eq!(unowned, ["base_dev_generic/stage/include/x.h 700"]);
    let problem = case.total().problem();
    assert_eq!(
        problem,
        "1 development file (700 B) of artifact `base` is in no package: `include/x.h` of base_dev_generic\n  \
         artifact \"base\" \"lib\" <- names other components\n  \
         help: add \"dev\" to the line of artifact `base`, or drop it with a reason: \
         drop \"**\" artifact=\"base\" component=\"dev\" reason=\"…\"\n"
    );
}

#[test]
fn drop_rules_silence_matching_files() {
    let drops = "drop \"**\" component=\"dbg\" artifact=\"base\" reason=\"debug files\"\ndrop \"test/**\" reason=\"tests\"\ndrop \"**\" component=\"doc\" mode=\"legacy\" reason=\"docs\"\n";
    let entries = "base_lib_generic a text a
                   base_dbg_generic a.debug data 9
                   blas_dbg_generic b.debug data 9
                   blas_lib_generic test/t data 9
                   base_doc_generic doc data 9";
    let case =
        Case::new(&[runtime("core", "artifact \"base\" \"lib\""), drops.to_owned()], entries);
    let unowned: Vec<String> =
        case.plan().unowned.iter().map(|u| u.origin.path.to_string()).collect();
    assert_eq!(unowned, ["doc", "b.debug"], "by artifact");
}

#[test]
fn files_of_targets_that_are_not_built_are_not_missed() {
    let device = super::support::device("artifact \"blas\" \"lib\"");
    let entries = "blas_lib_gfx942 a text a\nblas_lib_gfx1100 b text b\nblas_test_gfx942 t text t";
    let plan = Case::new(&[device], entries).linux(&["gfx942"]).plan();
    let unowned: Vec<String> = plan.unowned.iter().map(|u| u.origin.to_string()).collect();
    assert_eq!(unowned, ["blas_test_gfx942/stage/t"]);
    assert_eq!(plan.notes, ["artifacts for `gfx1100` exist, but are not requested"]);
}

#[test]
fn every_file_names_the_rule_that_took_it() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\"\ninclude \"b*\"\nartifact \"more\" \"lib\""),
        devel("artifacts-of \"core\""),
    ];
    let plan = Case::new(
        &packages,
        "base_lib_generic b text b\nmore_lib_generic bm text m\nbase_dev_generic d text d",
    )
    .plan();
    let rule = |name: &str, path: &str| {
        let found = distribution(&plan, name);
        found.all_members().find(|m| m.path.as_str() == path).unwrap().rule.to_string()
    };
    assert_eq!(rule("x-core", "_x_core/b"), "packages.kdl:12", "the include line");
    assert_eq!(rule("x-core", "_x_core/bm"), "packages.kdl:12");
    assert_eq!(rule("x-devel", "_x_devel/d"), "packages.kdl:20", "the artifacts-of line");
    assert_eq!(rule("x-core", "x_core/_dist_info.py"), "rockpack");
    assert_eq!(archived(&plan, "x-devel").len(), 3);
}

#[test]
fn children_that_are_no_artifacts_are_noted() {
    let mut case = core("artifact \"base\" \"lib\"", "base_lib_generic a text a");
    case.catalog.ignored.push(catalog::Ignored {
        name: "logs".to_owned(),
        reason: "its name is not right".to_owned(),
    });
    assert_eq!(case.plan().notes, ["ignored `logs`: its name is not right"]);
}

#[test]
fn licence_texts_that_wheels_carry_are_owned() {
    let entries = "base_lib_generic a text a\nbase_doc_generic share/doc/base/LICENSE text l";
    let plan = core("artifact \"base\" \"lib\"", entries).total().plan();
    assert!(plan.unowned.is_empty(), "{:?}", plan.unowned);
    let more = format!("{entries}\nbase_doc_generic share/doc/base/README text r");
    let problem = core("artifact \"base\" \"lib\"", &more).total().problem();
    assert!(problem.starts_with("1 file (10 B) of artifact `base`"), "{problem}");
}

#[test]
fn an_empty_artifact_and_a_directory_are_nothing_to_own() {
    let entries = "base_lib_generic a text a\nother_lib_generic share/empty dir";
    assert!(core("artifact \"base\" \"lib\"", entries).total().plan().unowned.is_empty());
}
