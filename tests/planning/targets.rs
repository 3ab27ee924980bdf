//! Built and published targets, and the extras of the selector.

use serde_json::Value;

use super::support::{Case, FAMILIES, distribution, names, package, rendered, runtime};

fn packages() -> [String; 4] {
    [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"
            extra \"core\" package=\"core\"
            extra \"device-{isa}\" package=\"device\" offer=\"each\" at-least=2
            extra \"device-all\" package=\"device\" offer=\"all\" at-least=2",
        ),
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\""),
    ]
}

const ENTRIES: &str = "base_lib_generic a text a
                       blas_lib_generic b text b
                       blas_lib_gfx906 c_906 text c
                       blas_lib_gfx942 c_942 text c
                       blas_lib_gfx1100 c_1100 text c
                       blas_lib_gfx1101 c_1101 text c";

fn case() -> Case {
    Case::new(&packages(), ENTRIES)
}

fn built(case: &Case) -> Vec<String> {
    names(&case.plan())
        .iter()
        .filter_map(|n| n.strip_prefix("dist/x-device-").map(str::to_owned))
        .collect()
}

/// Parses the selector's `DIST` from its Python source.
fn dist(case: &Case) -> Value {
    let plan = case.plan();
    let text = rendered(&plan, "x", "src/x_meta/_dist_info.py");
    let literal = text
        .split_once("DIST = ")
        .unwrap()
        .1
        .replace("None", "null")
        .replace("True", "true")
        .replace("False", "false");
    // Python allows a comma after the last item.
    let json: String = literal
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("")
        .replace(",}", "}")
        .replace(",]", "]");
    serde_json::from_str(&json).unwrap()
}

#[test]
fn without_a_list_every_target_with_artifacts_is_built() {
    assert_eq!(built(&case()), ["gfx906", "gfx942", "gfx1100", "gfx1101"]);
}

#[test]
fn targets_listed_by_the_build_are_built() {
    let mut case = case();
    case.catalog.build.targets = vec!["gfx1100".to_owned(), "gfx942".to_owned()];
    let (plan, warnings) = case.plan_and_warnings();
    assert_eq!(names(&plan)[3..], ["dist/x-device-gfx942", "dist/x-device-gfx1100"]);
    let left = "artifacts for gfx1101, gfx906 exist, but the build does not list them\n";
    assert!(warnings.len() == 1 && warnings[0].starts_with(left), "{warnings:?}");
    case.catalog.build.targets.push("gfx950".to_owned());
    assert!(
        case.problem().starts_with("gfx950 is listed by the build, but no artifact is for it\n"),
        "{}",
        case.problem()
    );
}

/// A line for the other system alone leaves no package for the ISAs of the build.
#[test]
fn a_line_for_the_other_system_is_named_where_a_target_has_no_artifact() {
    let elsewhere = super::support::device("artifact \"blas\" \"lib\"")
        .replace("per=\"isa\"", "per=\"isa\" on=\"windows\"");
    let mut case = Case::new(&[elsewhere], "blas_lib_gfx942 lib/k.co code");
    case.catalog.build.targets = vec!["gfx942".to_owned()];
    let problems = case.problems().join("");
    assert!(
        problems.contains("gfx942 is listed by the build, but no artifact is for it"),
        "{problems}"
    );
    assert!(
        problems.contains("on=\"windows\" <- this package is only for the other system"),
        "{problems}"
    );
}

#[test]
fn without_a_list_no_target_is_left_out_silently() {
    let entries = format!("{ENTRIES}\nnew_lib_gfx950 lib/new.co code");
    let families = format!("{FAMILIES}isa \"gfx950\" product=\"E\"\n");
    let case = Case::new(&packages(), &entries).families(&families);
    let unowned = "1 file (10 B) with device code for `gfx950` of artifact `new` is in no package";
    assert!(case.clone().total().problem().starts_with(unowned), "{}", case.total().problem());
    assert!(case.clone().linux(&["gfx942"]).total().plan().unowned.is_empty());
}

#[test]
fn lists_take_families_and_isas() {
    assert_eq!(
        built(&case().linux(&["gfx110X-all", "gfx942", "gfx1100"])),
        ["gfx942", "gfx1100", "gfx1101"]
    );
}

#[test]
fn an_unknown_target_is_a_mistake_of_the_command_line_with_a_hint() {
    let case = case().linux(&["gfx94X-dgpu", "zzz"]);
    assert_eq!(
        case.problems(),
        [
            "--linux-amdgpu-families: `gfx94X-dgpu` is not a family or ISA\n  help: did you mean `gfx94X-dcgpu`? families.kdl lists all families and ISAs\n",
            "--linux-amdgpu-families: `zzz` is not a family or ISA\n  help: families.kdl lists all families and ISAs\n",
        ]
    );
    assert!(case.resolve().unwrap_err().blame_usage());
}

#[test]
fn requested_isas_need_artifacts() {
    let entries = "base_lib_generic a text a\nblas_lib_generic b text b\nblas_lib_gfx942 c text c";
    let problem = Case::new(&packages(), entries).linux(&["gfx942", "gfx110X-all"]).problem();
    assert_eq!(
        problem,
        "gfx1100, gfx1101 are requested, but no artifact is for them\n  help: request other families with --linux-amdgpu-families, or add the artifacts; the device artifacts are for gfx942\n"
    );
}

#[test]
fn an_artifact_for_an_undeclared_target_is_an_error() {
    let problem =
        Case::new(&packages(), &format!("{ENTRIES}\nblas_lib_gfx1102 x text x")).problem();
    assert!(
        problem.starts_with("artifact `blas_lib_gfx1102` is for `gfx1102`, which families.kdl does not declare; did you mean `gfx110"),
        "{problem}"
    );
    assert!(
        problem.contains("`mach` and `wave`, as families.kdl:5 declares `gfx1101`"),
        "{problem}"
    );
}

#[test]
fn extras_carry_markers_when_both_lists_are_given() {
    let dist = dist(&case().linux(&["gfx942", "gfx1100"]).windows(&["gfx1100", "gfx1101"]));
    let extras = &dist["extras"];
    assert_eq!(extras["device-gfx942"][0], "x-device-gfx942==1.0; sys_platform == \"linux\"");
    assert_eq!(extras["device-gfx1100"][0], "x-device-gfx1100==1.0");
    assert_eq!(extras["device-gfx1101"][0], "x-device-gfx1101==1.0; sys_platform == \"win32\"");
    assert_eq!(extras["device-all"].as_array().unwrap().len(), 3);
    assert_eq!(extras["core"][0], "x-core==1.0", "what is for every target is for both systems");
    assert_eq!(dist["targets"]["win32"], serde_json::json!(["gfx1100", "gfx1101"]));
    assert_eq!(dist["requires"], serde_json::json!(["x-core==1.0"]));
}

#[test]
fn extras_carry_no_markers_when_one_list_is_given() {
    let extras = &dist(&case().linux(&["gfx942", "gfx1100"]))["extras"];
    assert_eq!(extras["device-gfx942"][0], "x-device-gfx942==1.0");
    assert!(extras.get("device-gfx1101").is_none());
}

#[test]
fn windows_may_publish_targets_not_built_here() {
    let case = case().linux(&["gfx942"]).windows(&["gfx1101"]);
    assert_eq!(built(&case), ["gfx942"]);
    assert_eq!(
        dist(&case)["extras"]["device-gfx1101"][0],
        "x-device-gfx1101==1.0; sys_platform == \"win32\""
    );
}

#[test]
fn extras_for_each_isa_need_two_of_them() {
    let dist = dist(&case().linux(&["gfx942"]));
    assert_eq!(dist["extras"].as_object().unwrap().keys().collect::<Vec<_>>(), ["core"]);
}

#[test]
fn the_default_target_is_the_smallest_in_both_lists_or_else_in_either() {
    let default = |linux: &[&str], windows: &[&str]| {
        dist(&case().linux(linux).windows(windows))["default_target"].clone()
    };
    assert_eq!(default(&["gfx906", "gfx1101", "gfx1100"], &["gfx1101", "gfx1100"]), "gfx1100");
    assert_eq!(default(&["gfx942"], &["gfx1100"]), "gfx942");
    assert_eq!(dist(&case())["default_target"], "gfx906");
}

fn legacy() -> Case {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"family\"",
            "extra \"libraries\" package=\"libs\"\nextra \"libraries-{family}\" package=\"libs\" offer=\"each\" at-least=2",
        ),
        package(
            "libs",
            "runtime",
            "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
            "artifact \"blas\" \"lib\"",
        ),
    ];
    Case::new(&packages, "blas_lib_gfx94X-dcgpu a text a\nblas_lib_gfx110X-all b text b").legacy()
}

#[test]
fn a_selector_of_one_family_offers_that_family_alone() {
    let dist = dist(&legacy());
    assert_eq!(dist["default_target"], "gfx110X-all");
    assert_eq!(dist["extras"], serde_json::json!({"libraries": ["x-libs-gfx110X-all==1.0"]}));
    assert_eq!(dist["targets"]["linux"], serde_json::json!(["gfx110X-all"]));
    assert_eq!(dist["packages"]["libs"]["distribution"], "x-libs-gfx110X-all");
}

#[test]
fn in_legacy_mode_an_isa_selects_its_family() {
    assert_eq!(names(&legacy().linux(&["gfx942"]).plan())[1], "dist/x-libs-gfx94X-dcgpu");
    assert_eq!(
        names(&legacy().linux(&["gfx94X-all"]).plan())[1],
        "dist/x-libs-gfx94X-dcgpu",
        "the same ISAs under another name"
    );
    assert_eq!(names(&legacy().linux(&["gfx1101", "gfx1100", "gfx110X-all"]).plan()).len(), 2);
    let problem = legacy().linux(&["gfx906"]).problem();
    assert!(
        problem.starts_with("gfx906 is requested, but no artifact is for it")
            && problem.contains("gfx110X-all, gfx94X-dcgpu"),
        "{problem}"
    );
}

/// An invalid version is refused as part of the command line.
#[test]
fn versions_are_normalised_at_the_start() {
    let version = |text: &str| case().asking(|r| r.version = Some(text.parse().unwrap()));
    assert_eq!(version("7.10.0-dev0").plan().version.as_str(), "7.10.0.dev0");
    assert_eq!(
        distribution(&version("v7.1RC1+G-1").plan(), "x-device-gfx942").metadata.requires_dist,
        ["x-libs==7.1rc1+g.1"]
    );
}

#[test]
fn suffixes_have_to_be_valid_in_names() {
    let suffix = case().asking(|r| r.suffix = "-7".to_owned());
    assert_eq!(
        suffix.problem(),
        "--version-suffix: `-7` cannot end the name of a Python package\n  help: use letters, digits and `_`\n"
    );
}

#[test]
fn the_version_is_a_development_version_of_the_builds_own_unless_one_is_given() {
    let mut case = case().asking(|r| r.version = None);
    case.catalog.build.version = Some("7.2.0".to_owned());
    assert_eq!(case.plan().version.as_str(), "7.2.0.dev0");
    case.catalog.build.version = Some("7.2.0-rc.x".to_owned());
    assert!(!case.resolve().unwrap_err().blame_usage());
    case.catalog.build.version = None;
    assert_eq!(
        case.problem(),
        "the artifacts do not state a version\n  help: add the version of the packages, such as --version 7.2.0\n"
    );
}

/// The build's package version overrides a version made from the build's version.
#[test]
fn the_version_that_the_build_has_for_packages_is_taken_as_it_is() {
    let mut case = case().asking(|r| r.version = None);
    case.catalog.build.version = Some("7.2.0".to_owned());
    case.catalog.build.package_version = Some("7.2.0a20260501".to_owned());
    assert_eq!(case.plan().version.as_str(), "7.2.0a20260501");
    case.catalog.build.package_version = Some("main".to_owned());
    assert!(case.problem().contains("is not a PEP 440 version"), "{}", case.problem());
    let asked = case.asking(|r| r.version = Some("1.0".parse().unwrap()));
    assert_eq!(asked.plan().version.as_str(), "1.0");
}

/// An artifact that `isa gfx1100` lacks and others have is reported, unless families.kdl expects
/// it.
#[test]
fn an_artifact_missing_for_an_isa_is_reported() {
    let more = "rand_lib_gfx906 r_906 text r
                rand_lib_gfx942 r_942 text r
                rand_lib_gfx1101 r_1101 text r";
    let entries = format!("{ENTRIES}\n{more}");
    let with = |line: &str| {
        let mut all = packages();
        all[3] = all[3]
            .replace("artifact \"blas\" \"lib\"", &format!("artifact \"blas\" \"lib\"\n{line}"));
        Case::new(&all, &entries).plan_and_warnings().1
    };
    let told = with("artifact \"rand\" \"lib\"");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("package `device` has no files of artifact `rand` (lib) for gfx1100\n"),
        "{told:?}"
    );
    assert_eq!(with("artifact \"rand\" \"lib\" optional=\"not for all\""), [""; 0]);
    assert_eq!(with("artifact \"rand\" \"lib\" subproject=\"sparse\""), [""; 0]);
    let other =
        with("artifact \"rand\" \"lib\" subproject=\"dense\" optional=\"not in every build\"");
    assert!(other[0].contains("`without` of subproject \"dense\""), "{other:?}");
}
