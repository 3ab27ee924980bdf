//! The manifest of the repository, for tests that decode it or need a copy.

use std::collections::BTreeSet;
use std::path::Path;

use base::names::RelPath;
use base::source::{Problems, Source};
use fs_err as fs;
use manifest::{Manifest, ManifestFiles};

/// Its directory.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of one of its files.
pub fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The paths of all its files, packages.kdl and families.kdl first.
pub fn files() -> Vec<String> {
    let beside = fs::read_dir(root().join("manifest")).unwrap();
    let mut names: Vec<String> = beside
        .map(|entry| format!("manifest/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    names.sort();
    ["packages.kdl", "families.kdl"].map(str::to_owned).into_iter().chain(names).collect()
}

/// The paths of its files in KDL.
pub fn kdl_files() -> Vec<String> {
    let is_kdl = |name: &String| Path::new(name).extension().is_some_and(|end| end == "kdl");
    files().into_iter().filter(is_kdl).collect()
}

/// Copies it into a directory, with `lines` behind those of packages.kdl.
pub fn copy(dir: &Path, lines: &str) {
    fs::create_dir_all(dir.join("manifest")).unwrap();
    for name in files() {
        let more = if name == "packages.kdl" { lines } else { "" };
        fs::write(dir.join(&name), text(&name) + more).unwrap();
    }
}

/// The manifest, decoded.
pub fn manifest() -> Manifest {
    decode(&text("packages.kdl"), &text("families.kdl")).unwrap()
}

/// The manifest with other texts of its two files.
pub fn decode(packages: &str, families: &str) -> Result<Manifest, Problems> {
    let read =
        |path: &RelPath| fs::read_to_string(root().join(path.as_str())).map_err(|e| e.to_string());
    let beside =
        ManifestFiles { templates: vec!["meta", "runtime", "choice"], read: &read, built_in: None };
    let (packages, families) =
        (Source::new("packages.kdl", packages), Source::new("families.kdl", families));
    Manifest::decode_beside(&packages, &families, &beside)
}

/// Release engineers read these files: no long lines, and the packages on a few pages.
#[test]
fn the_manifest_is_short() {
    for name in files() {
        for (line, number) in text(&name).lines().zip(1..) {
            let columns = line.chars().count();
            assert!(
                columns <= 120,
                "{name}:{number} has {columns} columns; at most 120 are allowed"
            );
        }
    }
    let lines = text("packages.kdl").lines().count();
    assert!(
        lines <= 300,
        "packages.kdl has {lines} lines, of at most 300; manifest/ has the themes"
    );
}

/// A name that no line needs is no mistake for manifests that include this one, so it is looked for
/// here.
#[test]
fn every_allowed_absence_is_of_an_artifact_that_lines_name() {
    let others = ["families.kdl", "manifest/parity.kdl"];
    let own = kdl_files().into_iter().filter(|name| !others.contains(&name.as_str()));
    let texts = own.map(|name| text(&name).replace("include \"manifest/", "/-include \"manifest/"));
    let one: String = texts.collect();
    decode(&one, &text("families.kdl")).unwrap();
}

/// Jobs of GitHub run the steps side by side; a new step belongs in one of them.
#[test]
fn github_runs_each_step() {
    let script = text(".ci/run");
    let lanes = script.lines().skip_while(|line| !line.starts_with("FIRST="));
    let lanes = lanes.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let words = |text: &str| -> BTreeSet<String> {
        text.split([' ', '(', ')']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut steps = words(&lanes);
    steps.retain(|word| !word.ends_with('='));
    let workflow = text(".github/workflows/ci.yml");
    let jobs = workflow.lines().filter_map(|line| line.trim().strip_prefix("steps: "));
    assert_eq!(words(&jobs.collect::<Vec<_>>().join(" ")), steps);
}
