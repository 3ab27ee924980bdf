//! Additional indexes of the same packages: a separate selector for each.

use plan::Plan;

use super::support::{Case, package, rendered, runtime};

const ENTRIES: &str = "base_lib_generic a text a
                       blas_lib_generic b text b
                       blas_lib_gfx942 c_942 text c
                       blas_lib_gfx1100 c_1100 text c";

fn case(lines: &str) -> Case {
    let selector = format!(
        "requires \"core\"
        extra \"device-{{isa}}\" package=\"device\" offer=\"each\"
        {lines}"
    );
    let packages = [
        package("meta", "selector", "\"x\" module=\"x_meta\" per=\"none\"", &selector),
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\""),
    ];
    Case::new(&packages, ENTRIES)
}

/// Returns directory, index, and unconditional requirements of each selector.
fn selectors(plan: &Plan) -> Vec<(String, String, String)> {
    let all = plan.distributions.iter().filter(|d| d.name.as_str() == "x");
    let told = all.map(|d| {
        let required = d.metadata.requires_dist.iter().filter(|r| !r.contains("extra =="));
        let required: Vec<&str> = required.map(String::as_str).collect();
        let index = d.index.as_ref().map(ToString::to_string).unwrap_or_default();
        (d.directory.to_string(), index, required.join(", "))
    });
    told.collect()
}

fn row(directory: &str, index: &str, requires: &str) -> (String, String, String) {
    (directory.to_owned(), index.to_owned(), requires.to_owned())
}

const ALL: &str = "x-core==1.0, x-device-gfx942==1.0, x-device-gfx1100==1.0";

#[test]
fn each_index_has_its_selector() {
    let lines = "index \"all\" { requires \"device\" offer=\"all\"; }
                 index \"host\" { requires \"libs\"; requires \"core\"; }";
    let plan = case(lines).plan();
    assert_eq!(
        selectors(&plan),
        [
            row("dist", "", "x-core==1.0"),
            row("dist/all", "all", ALL),
            row("dist/host", "host", "x-core==1.0, x-libs==1.0"),
        ],
        "what is required anyway is required once"
    );
    let others = |plan: &Plan| -> Vec<String> {
        let others = plan.distributions.iter().filter(|d| d.name.as_str() != "x");
        others.map(|d| serde_json::to_string(d).unwrap()).collect()
    };
    assert_eq!(others(&plan), others(&case("\n").plan()), "no other package knows of it");
    let text = review::summary_text(&plan, true);
    assert!(text.contains("all/x (sdist)") && text.contains("host/x (sdist)"), "{text}");
}

#[test]
fn the_runtime_knows_the_requirements_of_its_selector() {
    let plan = case("index \"all\" { requires \"device\" offer=\"all\"; }").plan();
    assert!(!rendered(&plan, "x", "src/x_meta/_dist_info.py").contains("\"index\""));
    let second = plan.distributions.iter().find(|d| d.index.is_some()).unwrap();
    let mut alone = plan.clone();
    alone.distributions = vec![second.clone()];
    let facts = rendered(&alone, "x", "src/x_meta/_dist_info.py");
    assert!(facts.contains("\"index\": \"all\""), "{facts}");
    assert!(facts.contains("\"x-core==1.0\",\n        \"x-device-gfx942==1.0\","), "{facts}");
}

/// An index for one system has a selector only there; either build makes the selector for both
/// systems.
#[test]
fn indexes_count_where_their_lines_count() {
    let both = |lines: &str| {
        let case = case(lines).linux(&["gfx942"]).windows(&["gfx942", "gfx1100"]);
        selectors(&case.plan())
    };
    let all = "x-core==1.0, x-device-gfx942==1.0, x-device-gfx1100==1.0; sys_platform == \"win32\"";
    let rows = both("index \"all\" { requires \"device\" offer=\"all\"; }");
    assert_eq!(rows[1], row("dist/all", "all", all));
    let rows = both("index \"all\" on=\"windows\" { requires \"device\" offer=\"all\"; }");
    assert_eq!(rows.len(), 1, "{rows:?}");
    let rows = both("index \"all\" { requires \"device\" offer=\"all\" on=\"windows\"; }");
    assert_eq!(rows.len(), 1, "without a line that counts it would be the same: {rows:?}");
}
