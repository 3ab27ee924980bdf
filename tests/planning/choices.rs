//! Packages of the kind `choice`: wheels that only require others, and their variants.

use plan::{Distribution, Plan};

use super::support::{Case, package, rendered, runtime};

const ENTRIES: &str = "base_lib_generic a text a
                       blas_lib_generic b text b
                       blas_lib_gfx942 c_942 text c
                       blas_lib_gfx1100 c_1100 text c";

const VARIANT: &str = "variant \"{isa}\" package=\"device\" namespace=\"ex\" feature=\"arch\" \
                       provider=\"ex-gpu>=1\" plugin=\"ex_gpu:Plugin\"";

fn case(lines: &str) -> Case {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"
            extra \"device\" package=\"gpu\"
            extra \"device-{isa}\" package=\"device\" offer=\"each\"",
        ),
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\""),
        package("gpu", "choice", "\"x-device\" module=\"x_device\" per=\"none\"", lines),
    ];
    Case::new(&packages, ENTRIES)
}

/// Returns the wheels of the choice: label, requirements, content of `variant.json`.
fn wheels(plan: &Plan) -> Vec<(String, String, String)> {
    let of_choice = plan.distributions.iter().filter(|d| d.name.as_str() == "x-device");
    let row = |d: &Distribution| {
        let (label, json) = d
            .wheel_variant
            .as_ref()
            .map_or_else(Default::default, |v| (v.label.to_string(), v.json.clone()));
        let (_, variants) = json.split_once("\"variants\":").unwrap_or_default();
        (label, d.metadata.requires_dist.join(", "), variants.to_owned())
    };
    of_choice.map(row).collect()
}

fn row(label: &str, requires: &str, variants: &str) -> (String, String, String) {
    (label.to_owned(), requires.to_owned(), variants.to_owned())
}

#[test]
fn a_choice_is_a_wheel_of_requirements() {
    let plan = case("").plan();
    assert_eq!(wheels(&plan), [row("", "", "")], "it may require nothing");
    let choice = plan.distributions.iter().find(|d| d.name.as_str() == "x-device").unwrap();
    let members: Vec<&str> = choice.members.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(members, ["x_device/__init__.py", "x_device/_dist_info.py"]);
    assert_eq!((choice.platform_dir.as_ref(), choice.variants.as_ref()), (None, None));
    let facts = rendered(&plan, "x", "src/x_meta/_dist_info.py").into_owned();
    assert!(facts.contains("\"device\": [\n            \"x-device==1.0\""), "{facts}");
    assert!(!facts.contains("\"gpu\": {"), "it is not a package with files: {facts}");
    let all = case("requires \"device\" offer=\"all\"\nrequires-dist \"other>=1\"");
    let requires = "x-device-gfx942==1.0, x-device-gfx1100==1.0, other>=1";
    assert_eq!(wheels(&all.plan()), [row("", requires, "")]);
    let both = all.linux(&["gfx942"]).windows(&["gfx942", "gfx1101"]).plan();
    let requires =
        "x-device-gfx942==1.0, x-device-gfx1101==1.0; sys_platform == \"win32\", other>=1";
    assert_eq!(wheels(&both), [row("", requires, "")], "a wheel for both systems has markers");
}

#[test]
fn each_variant_requires_the_package_of_its_isa_and_no_other() {
    let plan = case(&format!("{VARIANT}\nrequires \"core\"")).plan();
    let isa = |isa: &str| {
        let variants = format!("{{\"{isa}\":{{\"ex\":{{\"arch\":[\"{isa}\"]}}}}}}}}\n");
        row(isa, &format!("x-device-{isa}==1.0"), &variants)
    };
    assert_eq!(
        wheels(&plan),
        [
            row("", "x-core==1.0", ""),
            isa("gfx942"),
            isa("gfx1100"),
            row("null", "x-core==1.0", "{\"null\":{}}}\n")
        ],
        "`null` requires the same as the wheel without variant"
    );
    let variants_file = plan.distributions.iter().find_map(|d| d.variants.as_deref()).unwrap();
    assert!(
        variants_file.ends_with(
            "\"variants\":{\"gfx1100\":{\"ex\":{\"arch\":[\"gfx1100\"]}},\"gfx942\":{\"ex\":{\"arch\":[\"gfx942\"]}},\"null\":{}}}\n"
        ),
        "{variants_file}"
    );
    let text = review::summary_text(&plan, true);
    assert!(text.contains("x-device (gfx942)") && text.contains("x-device (null)"), "{text}");
}

/// An index has one file of variants for the wheels of both systems.
#[test]
fn the_file_of_variants_lists_the_isas_of_both_systems() {
    let plan = case(VARIANT).linux(&["gfx942"]).windows(&["gfx942", "gfx1101"]).plan();
    let labels: Vec<String> = wheels(&plan).into_iter().map(|(label, ..)| label).collect();
    assert_eq!(labels, ["", "gfx942", "null"]);
    let requires: Vec<String> =
        wheels(&plan).into_iter().map(|(_, requires, _)| requires).collect();
    assert_eq!(
        requires,
        ["", "x-device-gfx942==1.0", ""],
        "no marker, because the label selects the wheel"
    );
    let variants_file = plan.distributions.iter().find_map(|d| d.variants.as_deref()).unwrap();
    assert!(
        variants_file.contains("\"gfx1101\"") && variants_file.contains("\"gfx942\""),
        "{variants_file}"
    );
}
