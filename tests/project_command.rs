//! `rockpack project`: existing, missing and cloned sources; with git and local repositories.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use workbench::skips::has;

const MANIFEST: &str = r#"common { author "A"; requires-python ">=3.10"; }
package "core" kind="runtime" {
    distribution "x-core" module="x_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
    artifact "base" "lib"
}
source "wave" git="ADDRESS" branch="release/{major}.{minor}" history=#true
python-project "x-wave" optional="not checked out" {
    source "wave"
    needs "wave.pyx" "wave.c" help="it is on release branches"
}
python-project "x-tools" optional="not checked out" { source "tools"; }
"#;

fn git(directory: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]).args(words);
    let output = command.current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a directory with a manifest, and the repository of its project; skips the test without
/// git.
fn place() -> Option<TempDir> {
    if !has("git", "`rockpack project list`") {
        return None;
    }
    let dir = TempDir::new().unwrap();
    let upstream = dir.path().join("upstream");
    fs_err::create_dir(&upstream).unwrap();
    git(&upstream, &["init", "-q", "-b", "main"]);
    fs_err::write(upstream.join("setup.py"), "").unwrap();
    git(&upstream, &["add", "."]);
    git(&upstream, &["commit", "-q", "-m", "one"]);
    git(&upstream, &["checkout", "-q", "-b", "release/7.2"]);
    fs_err::write(upstream.join("wave.pyx"), "").unwrap();
    git(&upstream, &["add", "."]);
    git(&upstream, &["commit", "-q", "-m", "two"]);
    let manifest = MANIFEST.replace("ADDRESS", &format!("file://{}", upstream.display()));
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    fs_err::write(dir.path().join("families.kdl"), "isa \"gfx942\" \"gfx94X\"\n").unwrap();
    fs_err::create_dir_all(dir.path().join("src/tools")).unwrap();
    fs_err::write(dir.path().join("src/tools/setup.py"), "").unwrap();
    Some(dir)
}

fn project(dir: &Path, command: &str, more: &[&str]) -> (Output, String) {
    project_of(dir, "7.2.1", command, more)
}

fn project_of(dir: &Path, version: &str, command: &str, more: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
        .args(["project", command, "--sources", "src", "--version", version])
        .args(more)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
fn clones_a_missing_checkout_with_its_branch() {
    let Some(dir) = place() else { return };
    let (output, text) = project(dir.path(), "list", &[]);
    assert_eq!(output.status.code(), Some(1));
    let line = format!("git clone --branch release/7.2 file://{}", dir.path().display());
    assert!(text.starts_with("wave   missing\n") && text.contains(&line), "{text}");
    assert!(text.contains("tools  fine, no version control, files "), "{text}");
    assert!(!dir.path().join("src/wave").exists());
    // An interrupted checkout of another program leaves its directory.
    fs_err::create_dir_all(dir.path().join("src/wave")).unwrap();
    let (_, text) = project(dir.path(), "list", &[]);
    assert!(text.starts_with("wave   missing\n"), "{text}");
    let (output, text) = project(dir.path(), "clone", &["--remote"]);
    assert!(output.status.success(), "{output:?}");
    assert!(text.starts_with("wave   fine, release/7.2 at ") && text.contains("has x-wave"));
    assert!(dir.path().join("src/wave/wave.pyx").is_file());
    git(&dir.path().join("upstream"), &["commit", "-q", "--allow-empty", "-m", "three"]);
    let (output, text) = project(dir.path(), "list", &["--remote"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("wave   another commit") && text.contains("release/7.2 is at "),
        "{text}"
    );
}

#[test]
fn one_missing_branch_stops_no_other_clone_and_new_clones_are_initialized() {
    let Some(dir) = place() else { return };
    let upstream = dir.path().join("upstream");
    let script = "#!/bin/sh\necho made > made.txt\n";
    fs_err::write(upstream.join("init.sh"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(upstream.join("init.sh"), mode).unwrap();
    git(&upstream, &["add", "."]);
    git(&upstream, &["commit", "-q", "-m", "init"]);
    let manifest = fs_err::read_to_string(dir.path().join("packages.kdl")).unwrap();
    let address = format!("file://{}", upstream.display());
    let first = format!(
        "source \"first\" git=\"{address}\" branch=\"release/{{major}}.{{minor}}.{{patch}}\"\n"
    );
    let manifest = first + &manifest.replace("history=#true", "init=\"init.sh\"");
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    let (output, text) = project(dir.path(), "clone", &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let messages = crate::program::stderr(&output);
    assert!(
        messages.contains("first was not cloned") && messages.contains("near ones are release/7.2"),
        "{messages}"
    );
    assert!(messages.contains("wave: running init.sh"), "{messages}");
    assert_eq!(fs_err::read_to_string(dir.path().join("src/wave/made.txt")).unwrap(), "made\n");
    assert!(text.contains("first  missing\n"), "{text}");
}

#[test]
fn a_branch_without_the_last_zero_of_the_version_is_cloned() {
    let Some(dir) = place() else { return };
    let manifest = fs_err::read_to_string(dir.path().join("packages.kdl")).unwrap();
    let manifest = manifest.replace("release/{major}.{minor}", "release/{major}.{minor}.{patch}");
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    for version in ["7.2", "7.2.0"] {
        let (output, text) = project_of(dir.path(), version, "clone", &["--remote"]);
        assert!(output.status.success(), "{output:?}");
        assert!(text.contains("wave   fine, release/7.2 at "), "{text}");
        fs_err::remove_dir_all(dir.path().join("src/wave")).unwrap();
    }
    let (output, _) = project_of(dir.path(), "7.2.1", "clone", &[]);
    let message = crate::program::stderr(&output);
    assert!(
        message.contains("fatal: Remote branch release/7.2.1 not found in upstream origin")
            && message.contains("near ones are release/7.2"),
        "{message}"
    );
}

#[test]
fn an_interrupted_program_for_new_clones_runs_again() {
    let Some(dir) = place() else { return };
    let upstream = dir.path().join("upstream");
    // The first run kills rockpack, the second one fails.
    let script = "#!/bin/sh\n[ -e ../once ] || { touch ../once; kill -9 $PPID; exit; }\n\
        [ -e ../twice ] || { touch ../twice; exit 3; }\n\
        echo made > made.txt\n";
    fs_err::write(upstream.join("init.sh"), script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(upstream.join("init.sh"), executable).unwrap();
    git(&upstream, &["add", "."]);
    git(&upstream, &["commit", "-q", "-m", "init"]);
    let manifest = fs_err::read_to_string(dir.path().join("packages.kdl")).unwrap();
    let manifest = manifest.replace("history=#true", "init=\"init.sh\"");
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    let made = dir.path().join("src/wave/made.txt");
    let (output, _) = project(dir.path(), "clone", &[]);
    assert_eq!(output.status.code(), None, "{output:?}");
    assert!(dir.path().join("src/wave").is_dir() && !made.exists());
    let (output, text) = project(dir.path(), "list", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("init.sh did not end in wave: `rockpack project clone`"), "{text}");
    let (output, text) = project(dir.path(), "clone", &[]);
    let messages = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("wave: init.sh ended with exit status: 3"), "{messages}");
    assert!(!messages.contains("cloning") && text.contains("did not end"), "{messages}{text}");
    let (output, text) = project(dir.path(), "clone", &[]);
    let messages = crate::program::stderr(&output);
    assert!(messages.contains("wave: running init.sh") && made.is_file(), "{output:?}");
    assert!(!text.contains("did not end"), "{text}");
    // It runs once more only for another clone.
    fs_err::remove_file(&made).unwrap();
    project(dir.path(), "clone", &[]);
    assert!(!made.exists());
}

#[test]
fn lists_each_missing_file_of_a_checkout() {
    let Some(dir) = place() else { return };
    let (upstream, checkout) = (dir.path().join("upstream"), dir.path().join("src/wave"));
    let address = format!("file://{}", upstream.display());
    let checkout = checkout.to_str().unwrap();
    git(dir.path(), &["clone", "-q", "--depth=1", "--branch=main", &address, checkout]);
    let (output, text) = project(dir.path(), "list", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with("wave   not complete, main at "), "{text}");
    let line = "x-wave: there is no wave/wave.pyx or wave/wave.c (it is on release branches)\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("x-wave: wave is a shallow clone, and its version counts"), "{text}");
    let (_, json) = project(dir.path(), "list", &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["checkouts"][0]["state"], "lacking");
    assert_eq!(json["checkouts"][0]["expected_branch"], "release/7.2");
}

#[test]
fn a_dirty_checkout_is_not_fine_and_is_not_built_in_ci() {
    let Some(dir) = place() else { return };
    let (upstream, checkout) = (dir.path().join("upstream"), dir.path().join("src/wave"));
    git(dir.path(), &["clone", "-q", upstream.to_str().unwrap(), checkout.to_str().unwrap()]);
    let (output, text) = project(dir.path(), "list", &[]);
    assert!(output.status.success(), "{text}");
    for number in 0..7 {
        fs_err::write(checkout.join(format!("new{number}")), "").unwrap();
    }
    fs_err::write(checkout.join("wave.pyx"), "changed").unwrap();
    let (output, text) = project(dir.path(), "list", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with("wave   dirty, release/7.2 at "), "{text}");
    assert!(text.contains("new0 is not as in the commit\n"), "{text}");
    assert!(text.contains("and 3 more files\n"), "{text}");
    let (_, json) = project(dir.path(), "list", &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let (wave, tools) = (&json["checkouts"][0], &json["checkouts"][1]);
    assert_eq!((&wave["state"], wave["changed"].as_array().unwrap().len()), (&"dirty".into(), 8));
    assert_eq!((wave["tree"].as_str(), tools["tree"].as_str().unwrap().len()), (None, 64));

    let lines = "include \"built-in\"\npython-project \"x-wave\" {\n    source \"wave\"\n}\n";
    fs_err::write(dir.path().join("packages.kdl"), lines).unwrap();
    fs_err::write(dir.path().join("families.kdl"), include_str!("../families.kdl")).unwrap();
    crate::demo_tree::make(&dir.path().join("artifacts"), true);
    let build = |more: &[&str], ci: &str| {
        let words = ["build", "--artifact-dir", "artifacts", "-o", "out", "--sources", "src"];
        let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(words)
            .args(["--version", "7.2.1", "--no-cache", "--only", "x-wave"])
            .args(["--platform-tag", "linux_x86_64"])
            .env("ROCKPACK_PYTHON", "no-such-python")
            .args(more)
            .current_dir(dir.path())
            .env("NO_COLOR", "1")
            .env("CI", ci)
            .output()
            .unwrap();
        assert!(!output.status.success() && !dir.path().join("out/dist").exists());
        crate::program::stderr(&output)
    };
    for messages in [build(&["--require-clean"], ""), build(&[], "true")] {
        assert!(messages.contains("the checkout `wave` is dirty"), "{messages}");
        assert!(
            messages.contains("`new0`, `new1`, `new2`, `new3`, `new4` and 3 more files"),
            "{messages}"
        );
        assert!(messages.contains("stash --include-untracked"), "{messages}");
    }
    // The next remedy for all faults.
    for messages in [build(&[], ""), build(&["--require-clean=false"], "true")] {
        assert!(messages.contains("no-such-python") && !messages.contains("dirty"), "{messages}");
    }
}

#[test]
fn a_failed_clone_leaves_nothing() {
    let Some(dir) = place() else { return };
    fs_err::remove_dir_all(dir.path().join("upstream")).unwrap();
    let (output, text) = project(dir.path(), "clone", &[]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with("wave   missing\n"), "{text}");
    assert!(error.contains("`git clone") && error.contains("fatal: "), "{error}");
    assert!(error.contains("check the network and the address"), "{error}");
    let entries: Vec<_> = fs_err::read_dir(dir.path().join("src")).unwrap().collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
}

#[test]
fn requires_dependencies_of_projects_before_the_first_build() {
    let dir = crate::demo_tree::scratch(true);
    let checkout = dir.path().join("src/example");
    fs_err::create_dir_all(&checkout).unwrap();
    fs_err::write(checkout.join("setup.py"), "").unwrap();
    let manifest = "include \"built-in\"\npython-project \"example\" {\n    source \"example\"\n    \
                    env \"ROOT\" \"{devel}\"\n}\n";
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    fs_err::write(dir.path().join("families.kdl"), include_str!("../families.kdl")).unwrap();
    let refusal = |only: &str| {
        let words = ["build", "--artifact-dir", "artifacts", "-o", "out", "--version", "7.2.0"];
        let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(words)
            .args(["--sources", "src", "--no-cache", "--only", only])
            .env("ROCKPACK_PYTHON", "no-such-python")
            .current_dir(dir.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert!(!dir.path().join("out/dist").exists());
        crate::program::stderr(&output)
    };
    let first = refusal("example");
    assert!(first.contains("is neither built now nor in out"), "{first}");
    assert!(first.contains("add `rocm` to --only"), "{first}");
    let second = refusal("example,meta,core,libraries,devel");
    assert!(second.contains("rocm-profiler==7.2.0"), "{second}");
    assert!(second.contains("add `rocm-profiler` to --only"), "{second}");
    let all = refusal("example,meta,core,libraries,devel,profiler");
    assert!(all.contains("no-such-python"), "{all}");
}

#[test]
fn branches_with_numbers_need_a_version_only_to_clone() {
    let Some(dir) = place() else { return };
    let run = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["project", command, "--sources", "src"])
            .current_dir(dir.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, text) = run("list");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("--version V names its branch in file://"), "{text}");
    let (code, text) = run("clone");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("wave was not cloned: each version has a branch"), "{text}");
    assert!(!dir.path().join("src/wave").exists());
    project(dir.path(), "clone", &[]);
    let (code, text) = run("list");
    assert_eq!(code, Some(0), "any branch is expected: {text}");
}

#[test]
fn a_machine_without_git_needs_its_installation() {
    let Some(dir) = place() else { return };
    let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
        .args(["project", "clone", "--sources", "src", "--version", "7.2.1"])
        .current_dir(dir.path())
        .env("NO_COLOR", "1")
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let messages = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("the program `git` is not in PATH"), "{messages}");
    assert!(messages.contains("help: install git"), "{messages}");
}
