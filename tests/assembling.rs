//! What `rockpack assemble` takes of the directories that jobs give it, and what it says of those it refuses.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rockpack::regular::sha256;

use crate::program::{self, said, text};

/// A directory with packages of two jobs in `core` and `libraries`.
fn built() -> tempfile::TempDir {
    let dir = crate::demo_tree::scratch(true);
    for job in ["core", "libraries"] {
        build(dir.path(), job, "7.2.0", &[]);
    }
    dir
}

/// Builds the packages `only` into a directory of that name.
fn build(root: &Path, only: &str, version: &str, more: &[&str]) {
    let args = ["build", "--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"];
    let rest = ["--no-wheel-compression", "--only", only, "--version", version];
    let dest = if more.is_empty() { &["--dest-dir", only][..] } else { more };
    let mut command = program::command(root, &[&args[..], &rest, dest].concat());
    let output = command.env("ROCKPACK_NO_CACHE", "1").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Asks to unite these, and compares what it says instead.
fn refused(root: &Path, dirs: &[&str], needle: &str) {
    let args = [&["assemble", "--dest-dir", "out"], dirs].concat();
    let output = program::command(root, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{needle}: {}", text(&output.stderr));
    assert!(said(&output).contains(needle), "{needle}: {}", text(&output.stderr));
    assert!(!root.join("out/dist").exists(), "{needle}");
}

/// Adds a line to the checksums of `dist`.
fn list(dist: &Path, file: &Path, name: &str) {
    let sums = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    let line = format!("{}  {name}\n", sha256(file).unwrap());
    fs::write(dist.join("SHA256SUMS"), sums + &line).unwrap();
}

/// Adds a file to the subjects of the statement in `dist`.
fn tell(dist: &Path, file: &Path, name: &str) {
    let path = dist.join("provenance.intoto.json");
    let mut statement: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let subject =
        serde_json::json!({ "name": name, "digest": { "sha256": sha256(file).unwrap() } });
    statement["subject"].as_array_mut().unwrap().push(subject);
    fs::write(&path, statement.to_string()).unwrap();
}

#[test]
fn files_beyond_a_linked_directory_are_not_taken() {
    let dir = built();
    let root = dir.path();
    let dist = root.join("core/dist");
    fs::create_dir(root.join("elsewhere")).unwrap();
    fs::write(root.join("elsewhere/secret"), "of this machine").unwrap();
    symlink("../../elsewhere", dist.join("more")).unwrap();
    list(&dist, &root.join("elsewhere/secret"), "more/secret");
    refused(root, &["core", "libraries"], "no provenance statement beside it names that file");
    // Also when the statement names it: what a job wrote says nothing of other places.
    tell(&dist, &root.join("elsewhere/secret"), "more/secret");
    refused(root, &["core", "libraries"], "core/dist/more/secret cannot be taken");
    refused(root, &["core", "libraries"], "core/dist/more` is a link");
    // A real directory of that name is as good as any.
    fs::remove_file(dist.join("more")).unwrap();
    fs::rename(root.join("elsewhere"), dist.join("more")).unwrap();
    let args = ["assemble", "core", "libraries", "--dest-dir", "out"];
    let output = program::command(root, &args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(root.join("out/dist/more/secret")).unwrap(), "of this machine");
}

#[test]
fn what_no_statement_names_is_not_taken() {
    let dir = built();
    let root = dir.path();
    let dist = root.join("core/dist");
    fs::write(dist.join("added-1.0-py3-none-any.whl"), "added").unwrap();
    // What is not listed is not looked at, as ever.
    list(&dist, &dist.join("added-1.0-py3-none-any.whl"), "added-1.0-py3-none-any.whl");
    let file = "SHA256SUMS lists core/dist/added-1.0-py3-none-any.whl, and no provenance statement";
    refused(root, &["core", "libraries"], file);
    // Nor under the name of a package of another job.
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let mut taken = fs::read_dir(root.join("libraries/dist")).unwrap();
    let taken = taken.find_map(|entry| Some(entry.unwrap().path()).filter(is_wheel)).unwrap();
    let name = taken.file_name().unwrap().to_str().unwrap();
    build(root, "core", "7.2.0", &["--dest-dir", "again"]);
    fs::copy(&taken, root.join("again/dist").join(name)).unwrap();
    list(&root.join("again/dist"), &taken, name);
    refused(root, &["again", "libraries"], &format!("SHA256SUMS lists again/dist/{name}"));
}

#[test]
fn what_a_record_lacks_is_named() {
    let dir = built();
    let root = dir.path();
    fs::write(root.join("file"), "").unwrap();
    refused(root, &["core", "nowhere"], "nowhere does not exist");
    refused(root, &["core", "jobs/*"], "jobs/* does not exist");
    refused(root, &["file"], "file is a file, not a directory");
    let (sums, statement) =
        (root.join("core/dist/SHA256SUMS"), root.join("core/dist/provenance.intoto.json"));
    let (listed, told) = (fs::read(&sums).unwrap(), fs::read(&statement).unwrap());
    fs::write(&sums, "").unwrap();
    refused(root, &["core"], "core/dist/SHA256SUMS lists nothing");
    fs::write(&sums, &listed[..40]).unwrap();
    refused(root, &["core"], "core/dist/SHA256SUMS is damaged: its line 1 is no checksum");
    fs::remove_file(&sums).unwrap();
    refused(root, &["core"], "core/dist has no SHA256SUMS");
    fs::write(&sums, &listed).unwrap();
    fs::write(&statement, &told[..told.len() / 2]).unwrap();
    refused(
        root,
        &["core"],
        "core/dist/provenance.intoto.json cannot be read: it is not a provenance",
    );
    fs::remove_file(&statement).unwrap();
    refused(root, &["core"], "core/dist has no provenance.intoto.json");
    fs::write(&statement, &told).unwrap();
    let wheel = String::from_utf8(listed).unwrap();
    let wheel = wheel.trim_end().rsplit(' ').next().unwrap();
    fs::remove_file(root.join("core/dist").join(wheel)).unwrap();
    refused(root, &["core"], &format!("core/dist/{wheel} is not there, and SHA256SUMS lists it"));
}

#[test]
fn a_directory_of_two_plans_is_named_once() {
    let dir = crate::demo_tree::scratch(true);
    build(dir.path(), "core", "7.1.0", &["--dest-dir", "both"]);
    build(dir.path(), "libraries", "7.2.0", &["--dest-dir", "both", "--keep"]);
    refused(dir.path(), &["both"], "both has packages of two plans: version is");
}
