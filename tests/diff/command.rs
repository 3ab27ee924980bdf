//! `rockpack diff` as a command: git, formats, exit status, mistakes.

use std::path::Path;
use std::process::Command;

use binary::elf::stub::{StubMachine, exec_stub};
use fs_err as fs;
use tempfile::TempDir;

use plan::demo;

use crate::program::{rockpack, text};

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", text(&done.stderr));
}

fn has_git() -> bool {
    crate::skips::has("git", "differences to a revision")
}

/// Makes the demo artifacts, and the repository's manifest in `m`.
fn scratch() -> TempDir {
    let dir = TempDir::new().unwrap();
    let program = exec_stub(StubMachine::X86_64, "../lib/none").unwrap();
    demo::make(&dir.path().join("artifacts"), true, &program).unwrap();
    crate::repository::copy(&dir.path().join("m"), "");
    dir
}

/// Replaces text in the manifest `m`.
fn edit(dir: &Path, old: &str, new: &str) {
    let file = dir.join("m/packages.kdl");
    let packages = fs::read_to_string(&file).unwrap();
    assert!(packages.contains(old), "{old:?}");
    fs::write(&file, packages.replacen(old, new, 1)).unwrap();
}

const EXCLUDE: (&str, &str) = (
    "    exclude \"**/cmake/**\"\n",
    "    exclude \"**/cmake/**\"\n    exclude \"lib/llvm/lib/clang/**\"\n",
);

/// Result of excluding a directory.
const MOVED: &str = "→ lib/llvm/lib/clang/22/include/stddef.h";

fn diff(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = rockpack(dir, &[&["diff", "--platform-tag", "linux_x86_64"], args].concat());
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_revision_of_git_is_compared_with_the_manifest_here() {
    if !has_git() {
        return;
    }
    let dir = scratch();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "m"]);
    git(dir.path(), &["commit", "-q", "-m", "one"]);
    let same =
        diff(&dir.path().join("m"), &["--artifact-dir", "../artifacts", "--manifest-at", "main"]);
    assert_eq!(same, (Some(0), "no difference\n".to_owned(), String::new()));
    edit(dir.path(), EXCLUDE.0, EXCLUDE.1);
    for (at, args) in [
        ("m", &["--artifact-dir", "../artifacts"][..]),
        (".", &["--artifact-dir", "artifacts", "--manifest", "m"]),
        (".", &["--artifact-dir", "artifacts", "m"]),
    ] {
        let (status, out, err) =
            diff(&dir.path().join(at), &[&["--exit-code", "--manifest-at", "main"], args].concat());
        assert_eq!((status, err.contains('×')), (Some(1), false), "{err}");
        assert!(out.starts_with("old  main:packages.kdl\n") && out.contains(MOVED), "{at}: {out}");
    }
    let (status, _, err) = diff(
        &dir.path().join("m"),
        &["--artifact-dir", "../artifacts", "--manifest-at", "nowhere"],
    );
    assert_eq!(status, Some(2));
    assert!(err.contains("git has no packages.kdl of . at `nowhere`"), "{err}");
    let (status, _, err) = diff(
        &dir.path().join("m"),
        &["--artifact-dir", "../artifacts", "--manifest-at", "--output=x"],
    );
    assert_eq!(status, Some(2), "a revision is no option of git: {err}");
    assert!(!dir.path().join("m/x").exists());
}

#[test]
fn mistakes_in_the_old_manifest_name_its_revision() {
    if !has_git() {
        return;
    }
    let dir = scratch();
    edit(dir.path(), "artifact \"base\"", "artefact \"base\"");
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "m"]);
    git(dir.path(), &["commit", "-q", "-m", "one"]);
    edit(dir.path(), "artefact \"base\"", "artifact \"base\"");
    let (status, _, err) =
        diff(dir.path(), &["--artifact-dir", "artifacts", "--manifest-at", "HEAD", "m"]);
    assert_eq!(status, Some(1));
    assert!(err.contains("HEAD:packages.kdl:"), "{err}");
}

#[test]
fn without_git_that_is_said() {
    let dir = scratch();
    let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
        .args(["diff", "--artifact-dir", "artifacts", "--manifest-at", "main", "m"])
        .current_dir(dir.path())
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("requires the program `git`"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn outside_of_a_repository_that_is_said() {
    if !has_git() {
        return;
    }
    let dir = scratch();
    let (status, _, err) =
        diff(dir.path(), &["--artifact-dir", "artifacts", "--manifest-at", "main", "m"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("not a git repository"), "{err}");
}

#[test]
fn two_manifests_and_two_plans_give_the_same_difference() {
    let dir = scratch();
    let old = dir.path().join("old");
    crate::repository::copy(&old, "");
    edit(dir.path(), EXCLUDE.0, EXCLUDE.1);
    for (manifest, plan) in [("old", "old.json"), ("m", "new.json")] {
        let planned = rockpack(
            dir.path(),
            &[
                "plan",
                "--artifact-dir",
                "artifacts",
                "--platform-tag",
                "linux_x86_64",
                "--json",
                "--manifest",
                manifest,
            ],
        );
        fs::write(dir.path().join(plan), planned.stdout).unwrap();
    }
    let without_labels = |text: String| text.lines().skip(2).collect::<Vec<_>>().join("\n");
    let (status, manifests, _) = diff(dir.path(), &["--artifact-dir", "artifacts", "old", "m"]);
    assert_eq!(status, Some(0), "differences are no failure");
    assert!(manifests.contains(MOVED), "{manifests}");
    let (_, plans, err) = diff(dir.path(), &["old.json", "new.json"]);
    assert_eq!(err, "");
    assert_eq!(without_labels(plans), without_labels(manifests));
    let (status, _, _) = diff(dir.path(), &["--exit-code", "old.json", "new.json"]);
    assert_eq!(status, Some(1));
    let (_, json, _) = diff(dir.path(), &["--json", "old.json", "new.json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["format"], &json["moved"][0]["from"]["title"]),
        (&1.into(), &"rocm-sdk-core".into())
    );
    let (_, markdown, _) = diff(dir.path(), &["--format", "markdown", "old.json", "new.json"]);
    assert!(markdown.contains("```diff\n@@ moved @@\n"), "{markdown}");
    let (_, here, _) =
        diff(dir.path(), &["--artifact-dir", "artifacts", "--manifest", "m", "old.json"]);
    assert!(here.contains(MOVED), "a plan and the manifest: {here}");
}

#[test]
fn what_is_no_side_is_said() {
    let dir = scratch();
    fs::write(dir.path().join("text"), "plan").unwrap();
    fs::write(dir.path().join("other.json"), "{\"a\": 1}").unwrap();
    fs::write(dir.path().join("future.json"), "{\"format\": 99, \"all\": \"new\"}").unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (args, needle) in [
        (&["text", "text"][..], "cannot read text: this is not a plan"),
        (&["other.json", "text"], "cannot read other.json: this is not a plan"),
        (&["future.json", "text"], "this plan has format 99"),
        (&["nowhere", "text"], "nowhere does not exist"),
        (&["empty", "text"], "empty has no built packages"),
        (&["m", "m"], "needs artifacts"),
        (&["--manifest-at", "main", "m", "m"], "--manifest-at replaces OLD"),
        (&[], "<OLD>"),
        (&["--json", "--format", "files", "a", "b"], "cannot be used with"),
    ] {
        let (status, out, err) = diff(dir.path(), args);
        assert_eq!((status, &*out), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(needle), "{args:?}: {needle:?} is not in:\n{err}");
    }
}

/// Control characters of terminals are escaped in every text; JSON has the exact values.
#[test]
fn names_do_nothing_to_a_terminal() {
    let dir = scratch();
    let plan = ["plan", "--artifact-dir", "artifacts", "--manifest", "m", "--json"];
    let mut plan: serde_json::Value =
        serde_json::from_slice(&rockpack(dir.path(), &plan).stdout).unwrap();
    fs::write(dir.path().join("old.json"), plan.to_string()).unwrap();
    let hostile = "x\u{1b}[31m\n+ line\u{202e}\u{9b}";
    plan["distributions"][1]["metadata"]["summary"] = hostile.into();
    plan["notes"][0]["text"] = hostile.into();
    plan["platform_tag"] = "any\u{1b}]0;title\u{7}".into();
    fs::write(dir.path().join("new\u{1b}.json"), plan.to_string()).unwrap();
    for form in [&[][..], &["--format", "files"], &["--format", "markdown"]] {
        let args = [&["diff", "old.json", "new\u{1b}.json"], form].concat();
        let shown = rockpack(dir.path(), &args);
        let shown = text(&shown.stdout) + &text(&shown.stderr);
        let acts = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}');
        assert!(!shown.contains(acts) && !shown.contains("\n+ line"), "{shown:?}");
        assert!(shown.contains("x\\u{1b}[31m\\n+ line\\u{202e}\\u{9b}"), "{shown}");
    }
    let json = rockpack(dir.path(), &["diff", "old.json", "new\u{1b}.json", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json["notes"].as_array().unwrap().iter().any(|note| note["note"] == hostile));
}

/// A new warning is in the difference; warnings accepted by the manifest are left out.
#[test]
fn new_warnings_are_told() {
    let dir = scratch();
    let library = "    find-library \"rpp\"\n";
    crate::repository::copy(&dir.path().join("new"), "");
    for name in ["packages.kdl", "families.kdl"] {
        let text = fs::read_to_string(dir.path().join("m").join(name)).unwrap();
        let text = text.replacen(
            library,
            &format!("    find-library \"gone\" so=\"lib/gone.so\"\n{library}"),
            1,
        );
        fs::write(dir.path().join("new").join(name), text).unwrap();
    }
    let output = rockpack(dir.path(), &["diff", "m", "new", "--artifact-dir", "artifacts"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("\nwarnings\n  + missing-library: package `libraries` lacks"),
        "{shown}"
    );
    assert!(!text(&output.stderr).contains("runtime finds by name"), "{}", text(&output.stderr));
}
