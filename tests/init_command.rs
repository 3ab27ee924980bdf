//! `rockpack init`: the written manifest is valid, and changing it changes the packages.

use std::path::Path;

use fs_err as fs;
use tempfile::TempDir;

use crate::program::{rockpack, succeed};

fn fails(dir: &Path, args: &[&str]) -> String {
    let output = rockpack(dir, args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn both_manifests_are_sound_and_laid_out() {
    for option in [None, Some("--minimal")] {
        let dir = TempDir::new().unwrap();
        let args: Vec<&str> = ["init", "packaging"].into_iter().chain(option).collect();
        let stdout = succeed(dir.path(), &args);
        assert!(stdout.contains("rockpack check --manifest packaging"), "{stdout}");
        succeed(dir.path(), &["check", "--manifest", "packaging"]);
        succeed(
            dir.path(),
            &["fmt", "--check", "packaging/packages.kdl", "packaging/families.kdl"],
        );
    }
}

#[test]
fn keeps_an_existing_manifest() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("families.kdl"), "// mine\n").unwrap();
    let messages = fails(dir.path(), &["init"]);
    assert!(messages.contains("families.kdl exists already"), "{messages}");
    assert_eq!(fs::read_to_string(dir.path().join("families.kdl")).unwrap(), "// mine\n");
    assert!(!dir.path().join("packages.kdl").exists());
}

/// Returns the plan of the demo's artifacts with the manifest in `packaging`, one line a
/// distribution.
fn plan(dir: &Path, manifest: &str) -> String {
    let args = ["plan", "--artifact-dir", "demo", "--manifest", manifest, "--format", "files"];
    succeed(dir, &args)
}

#[test]
fn a_fork_changes_ten_lines_of_the_built_in_manifest() {
    let dir = TempDir::new().unwrap();
    succeed(dir.path(), &["init", "--demo", "demo"]);
    succeed(dir.path(), &["init", "packaging"]);
    let without_rules = |text: &str| {
        let lines = text.lines().map(|line| line.split("  <- ").next().unwrap_or_default().trim());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let built_in = plan(dir.path(), "built-in");
    assert_eq!(without_rules(&plan(dir.path(), "packaging")), without_rules(&built_in));
    assert!(built_in.contains("rocm-profiler") && built_in.contains("bin/rocminfo"));

    let packages = dir.path().join("packaging/packages.kdl");
    let changed = r#"include "built-in"
change "common" {
    author "A fork"
    url "Source" "https://example.org/fork"
}
remove "package" "profiler"
change "package" "meta" {
    remove "extra" "profiler"
}
change "package" "devel" {
    remove "artifacts-of"
    artifacts-of "core" "libraries" "device"
    remove "without-artifact" "rocprofiler-compute"
    remove "without-artifact" "rocprofiler-systems"
}
change "package" "core" {
    remove "script" "rocminfo"
}
drop "**" artifact="rocprofiler-compute" reason="we have no profiler"
drop "**" artifact="rocprofiler-systems" reason="we have no profiler"
"#;
    fs::write(&packages, changed).unwrap();
    let forked = plan(dir.path(), "packaging");
    assert!(!forked.contains("rocm-profiler"), "{forked}");

    // Provenance names all files of the manifest, including the built-in one.
    let args =
        ["build", "--artifact-dir", "demo", "-o", "out", "--manifest", "packaging", "--no-cache"];
    succeed(dir.path(), &args);
    let statement = fs::read_to_string(dir.path().join("out/dist/provenance.intoto.json")).unwrap();
    assert!(statement.contains("<built in>/packages.kdl"), "{statement}");
    for name in ["projects.kdl", "rocm-llvm-python.sh"] {
        assert!(statement.contains(&format!("<built in>/manifest/{name}")), "{name}: {statement}");
    }
    let core = fs::read_dir(dir.path().join("out/dist"))
        .unwrap()
        .filter_map(Result::ok)
        .find(|e| e.file_name().to_string_lossy().starts_with("rocm_sdk_core"));
    let mut zip = zip::ZipArchive::new(fs::File::open(core.unwrap().path()).unwrap()).unwrap();
    let mut member = |end: &str| {
        let name = zip.file_names().find(|name| name.ends_with(end)).unwrap().to_owned();
        std::io::read_to_string(zip.by_name(&name).unwrap()).unwrap()
    };
    let metadata = member(".dist-info/METADATA");
    assert!(metadata.contains("Author: A fork\n"), "{metadata}");
    assert!(metadata.contains("Project-URL: Source, https://example.org/fork\n"), "{metadata}");
    let scripts = member("entry_points.txt");
    assert!(!scripts.contains("rocminfo"), "{scripts}");
}

#[test]
fn shows_a_mistake_in_its_included_file() {
    let dir = TempDir::new().unwrap();
    succeed(dir.path(), &["init", "packaging"]);
    let file = |name: &str| dir.path().join("packaging").join(name);
    fs::write(file("packages.kdl"), "include \"built-in\"\ninclude \"ours.kdl\"\n").unwrap();
    fs::write(file("ours.kdl"), "\n\nsystem_library \"libx.so.1\"\n").unwrap();
    let messages = fails(dir.path(), &["check", "--manifest", "packaging"]);
    assert!(
        messages.contains("packaging/ours.kdl:3:1") || messages.contains("ours.kdl:3:1"),
        "{messages}"
    );
    assert!(messages.contains("did you mean `system-library`?"), "{messages}");
}

/// Files that the built-in manifest names are the program's; a fork's are in its own directory.
#[test]
fn reads_a_script_of_a_fork_next_to_its_manifest() {
    let dir = TempDir::new().unwrap();
    succeed(dir.path(), &["init", "packaging"]);
    let file = |name: &str| dir.path().join("packaging").join(name);
    let project =
        "python-project \"x-wave\" {\n    source \"wave\"\n    run script=\"ours/make.sh\"\n}\n";
    fs::write(file("packages.kdl"), format!("include \"built-in\"\n{project}")).unwrap();
    let check = ["check", "--manifest", "packaging"];
    let messages = fails(dir.path(), &check);
    assert!(messages.contains("the script `ours/make.sh` cannot be used"), "{messages}");
    assert!(messages.contains("packaging/packages.kdl:4:16"), "{messages}");
    fs::create_dir(file("ours")).unwrap();
    fs::write(file("ours/make.sh"), "make\n").unwrap();
    succeed(dir.path(), &check);
}
