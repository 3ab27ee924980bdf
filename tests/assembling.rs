//! `rockpack merge`: accepted directories of jobs, and messages for rejected ones.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use base::regular::sha256;
use fs_err as fs;

use crate::program::{self, Run, stderr, text};

/// Makes a directory with packages of two jobs in `core` and `libraries`.
fn built() -> tempfile::TempDir {
    let dir = crate::demo_tree::scratch(true);
    for job in ["core", "libraries"] {
        build(dir.path(), job, "7.2.0", &[]);
    }
    dir
}

/// Builds the packages `only` into a directory of that name, or into the one of `-o`.
fn build(root: &Path, only: &str, version: &str, more: &[&str]) {
    let (dest, more) = match more {
        ["-o", dest, rest @ ..] => (*dest, rest),
        _ => (only, more),
    };
    let mut command = program::build(root, dest);
    command.args(["--compression", "store", "--only", only, "--version", version]);
    command.args(more).succeed();
}

/// Runs the command and checks its error.
fn assert_refused(root: &Path, dirs: &[&str], needle: &str) {
    let args = [&["merge", "-o", "out"], dirs].concat();
    let output = program::command(root, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{needle}: {}", text(&output.stderr));
    assert!(stderr(&output).contains(needle), "{needle}: {}", text(&output.stderr));
    assert!(!root.join("out/dist").exists(), "{needle}");
}

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
    assert_refused(
        root,
        &["core", "libraries"],
        "no provenance statement of its directory names that file",
    );
    // A statement cannot vouch for files outside its directory.
    tell(&dist, &root.join("elsewhere/secret"), "more/secret");
    assert_refused(root, &["core", "libraries"], "core/dist/more/secret cannot be copied");
    assert_refused(root, &["core", "libraries"], "core/dist/more` is a link");
    // A real directory of that name is accepted.
    fs::remove_file(dist.join("more")).unwrap();
    fs::rename(root.join("elsewhere"), dist.join("more")).unwrap();
    let args = ["merge", "core", "libraries", "-o", "out"];
    let output = program::command(root, &args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(root.join("out/dist/more/secret")).unwrap(), "of this machine");
}

#[test]
fn packages_without_a_statement_are_refused() {
    let dir = built();
    let root = dir.path();
    let dist = root.join("core/dist");
    fs::write(dist.join("added-1.0-py3-none-any.whl"), "added").unwrap();
    let file = "neither SHA256SUMS nor a provenance statement of its directory names \
                core/dist/added-1.0-py3-none-any.whl";
    assert_refused(root, &["core", "libraries"], file);
    list(&dist, &dist.join("added-1.0-py3-none-any.whl"), "added-1.0-py3-none-any.whl");
    let file = "SHA256SUMS lists core/dist/added-1.0-py3-none-any.whl, but no provenance statement";
    assert_refused(root, &["core", "libraries"], file);
    // The name of another job's package is rejected too.
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let mut taken = fs::read_dir(root.join("libraries/dist")).unwrap();
    let taken = taken.find_map(|entry| Some(entry.unwrap().path()).filter(is_wheel)).unwrap();
    let name = taken.file_name().unwrap().to_str().unwrap();
    build(root, "core", "7.2.0", &["-o", "again"]);
    fs::copy(&taken, root.join("again/dist").join(name)).unwrap();
    list(&root.join("again/dist"), &taken, name);
    assert_refused(root, &["again", "libraries"], &format!("SHA256SUMS lists again/dist/{name}"));
}

#[test]
fn missing_parts_of_records_are_named() {
    let dir = built();
    let root = dir.path();
    fs::write(root.join("file"), "").unwrap();
    assert_refused(root, &["core", "nowhere"], "nowhere does not exist");
    assert_refused(root, &["core", "jobs/*"], "jobs/* does not exist");
    assert_refused(root, &["file"], "file is a file, not a directory");
    let (sums, statement) =
        (root.join("core/dist/SHA256SUMS"), root.join("core/dist/provenance.intoto.json"));
    let (listed, told) = (fs::read(&sums).unwrap(), fs::read(&statement).unwrap());
    fs::write(&sums, "").unwrap();
    assert_refused(root, &["core"], "core/dist/SHA256SUMS is empty");
    fs::write(&sums, &listed[..40]).unwrap();
    assert_refused(
        root,
        &["core"],
        "core/dist/SHA256SUMS is damaged: its line 1 is not a checksum",
    );
    fs::remove_file(&sums).unwrap();
    assert_refused(root, &["core"], "core/dist has no SHA256SUMS");
    fs::write(&sums, &listed).unwrap();
    fs::write(&statement, &told[..told.len() / 2]).unwrap();
    assert_refused(
        root,
        &["core"],
        "core/dist/provenance.intoto.json cannot be read: it is not a provenance",
    );
    fs::remove_file(&statement).unwrap();
    assert_refused(root, &["core"], "core/dist has no provenance.intoto.json");
    fs::write(&statement, &told).unwrap();
    let wheel = String::from_utf8(listed).unwrap();
    let wheel = wheel.trim_end().rsplit(' ').next().unwrap();
    fs::remove_file(root.join("core/dist").join(wheel)).unwrap();
    assert_refused(
        root,
        &["core"],
        &format!("core/dist/{wheel} is missing, but SHA256SUMS lists it"),
    );
}

#[test]
fn a_directory_of_two_plans_is_named_once() {
    let dir = crate::demo_tree::scratch(true);
    build(dir.path(), "core", "7.1.0", &["-o", "both"]);
    build(dir.path(), "libraries", "7.2.0", &["-o", "both", "--keep"]);
    let needle = "both has packages of two builds with different options: version is `7.2.0` in one and `7.1.0` in the other";
    assert_refused(dir.path(), &["both"], needle);
}

/// Input of both shards, used by packages of only one: a file of the artifact
/// `core-hip_dev_generic`.
const OF_DEVEL: &str = "artifacts/core-hip_dev_generic/stage/lib/cmake/hip/hip-config.cmake";

#[test]
fn shards_of_other_manifests_are_refused() {
    let dir = crate::demo_tree::scratch(true);
    let root = dir.path();
    for (name, line) in [("a", ""), ("b", "system-library \"libnone.so.1\"\n")] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("packages.kdl"), format!("include \"built-in\"\n{line}"))
            .unwrap();
        fs::write(root.join(name).join("families.kdl"), "include \"built-in\"\n").unwrap();
    }
    build(root, "core", "7.2.0", &["-o", "one", "--manifest", "a"]);
    build(root, "libraries", "7.2.0", &["-o", "two", "--manifest", "b"]);
    assert_refused(root, &["one", "two"], "one and two are of builds with different manifests:");
    let short = |file: &str| format!("`{:.12}`", sha256(root.join(file)).unwrap());
    let values = format!(
        "packages.kdl is {} in one, and {} in two",
        short("a/packages.kdl"),
        short("b/packages.kdl")
    );
    assert_refused(root, &["one", "two"], &values);
    // The same texts in another directory are the same manifest.
    fs::rename(root.join("a"), root.join("c")).unwrap();
    build(root, "libraries", "7.2.0", &["-o", "three", "--manifest", "c"]);
    let args = ["merge", "one", "three", "-o", "out"];
    let output = program::command(root, &args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn shards_of_other_options_are_refused() {
    let dir = crate::demo_tree::scratch(true);
    let root = dir.path();
    build(root, "core", "7.2.0", &["-o", "one"]);
    let options = ["--xz-preset", "1"];
    build(root, "devel", "7.2.0", &[&["-o", "two"], &options[..]].concat());
    let needle = "one and two are of builds with different options: devel-tarball-compression is not given in one, and `true` in two";
    assert_refused(root, &["one", "two"], needle);
}

/// Neither the catalog nor the plan has the bytes of files, and no two packages share the file.
#[test]
fn shards_of_artifacts_with_other_bytes_of_the_same_size_are_refused() {
    let dir = crate::demo_tree::scratch(true);
    let root = dir.path();
    build(root, "core", "7.2.0", &["-o", "one"]);
    build(root, "devel", "7.2.0", &["-o", "two"]);
    let mut bytes = fs::read(root.join(OF_DEVEL)).unwrap();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    fs::write(root.join(OF_DEVEL), bytes).unwrap();
    build(root, "devel", "7.2.0", &["-o", "three"]);
    let needle =
        "one and three are of builds with different artifacts: contents/core-hip_dev_generic is `";
    assert_refused(root, &["one", "three"], needle);
    assert_refused(root, &["one", "three"], "(of path and SHA-256 of each file) in one, and `");
    let args = ["merge", "one", "two", "-o", "out"];
    let output = program::command(root, &args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn edit(dest: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = dest.join("dist/provenance.intoto.json");
    let mut statement = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut statement);
    fs::write(&path, statement.to_string()).unwrap();
}

#[test]
fn shards_of_other_rockpacks_are_refused() {
    let dir = built();
    let root = dir.path();
    let version = |statement: &mut serde_json::Value, commit: &str| {
        let version = &mut statement["predicate"]["runDetails"]["builder"]["version"];
        *version = serde_json::json!({ "rockpack": "0.1.0", "rockpack-commit": commit });
    };
    edit(&root.join("core"), |statement| version(statement, "0123456789ab"));
    edit(&root.join("libraries"), |statement| version(statement, "210987654321"));
    let needle = "core and libraries are of builds with different versions of rockpack: rockpack is `0.1.0` of commit `0123456789ab` in core, and `0.1.0` of commit `210987654321` in libraries";
    assert_refused(root, &["core", "libraries"], needle);
}

#[test]
fn shards_without_the_digests_are_refused_with_a_remedy() {
    let dir = built();
    let root = dir.path();
    edit(&root.join("libraries"), |statement| {
        let definition = &mut statement["predicate"]["buildDefinition"]["internalParameters"];
        definition.as_object_mut().unwrap().remove("plan");
    });
    let needle = "the provenance of libraries does not record its plan";
    assert_refused(root, &["core", "libraries"], needle);
    assert_refused(
        root,
        &["core", "libraries"],
        "build all packages again with one release of rockpack",
    );
}

#[test]
fn a_package_of_the_plan_that_is_missing_is_named_before_anything_is_placed() {
    let dir = built();
    let root = dir.path();
    let plan = ["plan", "--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64", "--json"];
    let save = |file: &str, more: &[&str]| {
        let args = [&plan[..], &["--compression", "store"], more].concat();
        fs::write(root.join(file), program::succeed(root, &args)).unwrap();
    };
    save("plan.json", &["--version", "7.2.0"]);
    save("other.json", &["--version", "7.3.0"]);
    let with = ["--plan", "plan.json", "core", "libraries"];
    assert_refused(root, &with, "6 packages of plan.json are missing in all directories: ");
    assert_refused(root, &with, "rocm_sdk_devel-7.2.0-py3-none-linux_x86_64.whl");
    assert_refused(
        root,
        &["--plan", "other.json", "core", "libraries"],
        "the packages of core are of another plan than other.json",
    );
    build(root, "meta,gpu,device,profiler,devel", "7.2.0", &["-o", "others"]);
    let args = ["merge", "core", "libraries", "others", "--plan", "plan.json", "-o", "out"];
    let output = program::command(root, &args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("8 packages of 3 builds"), "{}", text(&output.stdout));
}
