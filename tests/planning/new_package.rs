//! A package with only a name and an artifact: pasting the proposed lines completes it.

use base::source::{Problems, Source};
use catalog::BuildFacts;
use manifest::{Manifest, ManifestFiles};
use plan::resolve;
use plan::{Request, Templates};

use super::{support, tree};

const PACKAGES: &str = r#"common {
    author "A. Author"
    requires-python ">=3.10"
}
package "meta" kind="selector" {
    distribution "x" module="x_meta" per="none"
    summary "Everything"
    license "MIT"
    requires "core"
}
package "core" kind="runtime" {
    distribution "x-sdk-core" module="x_sdk_core" per="none"
    summary "Core"
    license "LicenseRef-X"
    artifact "base" "lib"
}
"#;

const ENTRIES: &str = "base_lib_generic lib/libbase.so.1 so libbase.so.1
                       blas_lib_generic lib/libblas.so.3 so libblas.so.3";

fn decoded(text: &str) -> Result<Manifest, Problems> {
    let beside = ManifestFiles {
        templates: vec!["meta", "runtime"],
        read: &|_| Err("no file is read here".to_owned()),
        built_in: None,
    };
    Manifest::decode_beside(
        &Source::new("packages.kdl", text),
        &Source::new("families.kdl", support::FAMILIES),
        &beside,
    )
}

/// Applies the remedies of the problems: the first lines of a package and of an artifact replace
/// theirs, and indented lines are added after a package's first line.
fn applied(text: &str, problems: &Problems) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for remedy in problems.iter().map(|problem| problem.remedy().unwrap()) {
        let mut at = 0;
        let proposed = remedy.split_once(':').unwrap().1.lines().map(str::trim);
        for line in proposed.filter(|line| !line.is_empty()) {
            if line.starts_with("package ") || line.starts_with("artifact ") {
                let start: String = line.split_inclusive('"').take(2).collect();
                at = lines.iter().position(|there| there.trim().starts_with(&start)).unwrap();
                line.clone_into(&mut lines[at]);
            } else {
                lines.insert(at + 1, line.to_owned());
            }
        }
    }
    lines.join("\n")
}

fn is_made_whole(new: &str) {
    let text = PACKAGES.to_owned() + new;
    let problems = decoded(&text).expect_err("something is missing");
    let whole = applied(&text, &problems);
    let manifest = decoded(&whole).unwrap_or_else(|problems| {
        panic!("{:?} in\n{whole}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
    });
    assert!(manifest.warnings().is_empty(), "{whole}");
    let file = |path: &str| (path.parse().unwrap(), String::new());
    let templates = Templates::from([
        ("runtime".to_owned(), vec![file("__init__.py")]),
        ("meta".to_owned(), vec![file("pyproject.toml")]),
    ]);
    let request = Request {
        version: "1.0".parse().ok(),
        platform_tag: Some("linux_x86_64".parse().unwrap()),
        ..Request::default()
    };
    let build = BuildFacts { kpack_split: true, ..BuildFacts::default() };
    let catalog = tree::catalog(ENTRIES, build);
    let (plan, warnings) = resolve::plan(&manifest, &catalog, &templates, &request).unwrap();
    assert!(warnings.is_empty() && plan.notes.is_empty(), "{:?} in\n{whole}", plan.notes);
    let names: Vec<&str> = plan.distributions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["x", "x-sdk-core", "x-sdk-math"]);
}

#[test]
fn the_proposal_for_a_name_and_an_artifact_is_accepted() {
    is_made_whole("package \"math\" {\n    artifact \"blas\"\n}\n");
}

#[test]
fn the_proposal_for_a_package_with_a_kind_is_accepted() {
    is_made_whole("package \"math\" kind=\"runtime\" {\n    artifact \"blas\" \"lib\"\n}\n");
}

#[test]
fn the_proposal_for_a_missing_licence_is_accepted() {
    is_made_whole(
        "package \"math\" kind=\"runtime\" {\n    distribution \"x-sdk-math\" module=\"x_sdk_math\" per=\"none\"\n    \
         summary \"Math\"\n    artifact \"blas\" \"lib\"\n}\n",
    );
}

/// A complete package that no selector installs is reported, with the line that offers it.
#[test]
fn a_package_that_nothing_offers_is_a_warning() {
    let new = "package \"math\" kind=\"runtime\" {\n    distribution \"x-math-{isa}\" module=\"x_math_{isa}\" \
               per=\"isa\"\n    summary \"Math\"\n    license \"MIT\"\n    artifact \"blas\" \"lib\"\n}\n";
    let manifest = decoded(&(PACKAGES.to_owned() + new)).unwrap();
    let warnings = manifest.warnings();
    let told: Vec<&str> =
        warnings.iter().flat_map(|w| [w.message(), w.remedy().unwrap()]).collect();
    assert_eq!(
        told,
        [
            "no extra offers package `math`, and no package requires it",
            "add to `meta`: extra \"math\" package=\"math\" offer=\"all\""
        ]
    );
}
