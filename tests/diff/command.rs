//! `rockpack diff` as a command: git, formats, exit status, mistakes.

use std::path::Path;
use std::process::Command;

use fs_err as fs;

use crate::demo_tree::with_manifest;
use crate::program::{rockpack, text};

fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
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
    assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
}

fn has_git() -> bool {
    workbench::skips::has("git", "differences to a revision")
}

/// Replaces text in the manifest `m`.
fn edit(dir: &Path, old: &str, new: &str) {
    let file = dir.join("m/packages.kdl");
    let packages = fs::read_to_string(&file).unwrap();
    assert!(packages.contains(old), "{old:?}");
    fs::write(&file, packages.replacen(old, new, 1)).unwrap();
}

/// Old and new text: core also excludes the headers of clang, so that they are only in devel.
const EXCLUDE_CLANG: (&str, &str) = (
    "    exclude \"**/cmake/**\"\n",
    "    exclude \"**/cmake/**\"\n    exclude \"lib/llvm/lib/clang/**\"\n",
);

/// Line of the difference after [`EXCLUDE_CLANG`].
const MOVED: &str = "→ lib/llvm/lib/clang/22/include/stddef.h";

const LOST_FILE: &str = "lib/llvm/lib/clang/22/include/stddef.h";

const LOST: &str = "users of only `rocm-sdk-core` lose 1 file (30 B), now in `rocm-sdk-devel`: \
                    lib/llvm/lib/clang/22/include/stddef.h";

/// Line that the error proposes.
const ACCEPTING: &str = "ignore \"loss\" package=\"core\" \
                         in=\"lib/llvm/lib/clang/22/include/stddef.h\" reason=\"…\"";

/// Joins the wrapped lines of an error.
fn words(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn diff(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = rockpack(dir, &[&["diff", "--platform-tag", "linux_x86_64"], args].concat());
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn compares_a_git_revision_with_the_working_tree() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "m"]);
    git(dir.path(), &["commit", "-q", "-m", "one"]);
    let same =
        diff(&dir.path().join("m"), &["--artifact-dir", "../artifacts", "--manifest-at", "main"]);
    assert_eq!(same, (Some(0), "no difference\n".to_owned(), String::new()));
    edit(dir.path(), EXCLUDE_CLANG.0, EXCLUDE_CLANG.1);
    for (at, args) in [
        ("m", &["--artifact-dir", "../artifacts"][..]),
        (".", &["--artifact-dir", "artifacts", "--manifest", "m"]),
        (".", &["--artifact-dir", "artifacts", "m"]),
    ] {
        let (status, out, err) =
            diff(&dir.path().join(at), &[&["--exit-code", "--manifest-at", "main"], args].concat());
        assert_eq!((status, err.matches('×').count()), (Some(1), 1), "{err}");
        assert!(words(&err).contains(LOST) && words(&err).contains(ACCEPTING), "{err}");
        let verdict = format!("{LOST}\n\nold  main:packages.kdl\n");
        assert!(out.starts_with(&verdict) && out.contains(MOVED), "{at}: {out}");
    }
    let (status, _, err) = diff(
        &dir.path().join("m"),
        &["--artifact-dir", "../artifacts", "--manifest-at", "nowhere"],
    );
    assert_eq!(status, Some(2));
    let unreadable = "git cannot read `packages.kdl` in `.` at the revision `nowhere`";
    assert!(words(&err).contains(unreadable), "{err}");
    // As an option of git, `--output` would create a file in this directory.
    let output = dir.path().join("m/x:.");
    fs::create_dir(&output).unwrap();
    let (status, _, err) = diff(
        &dir.path().join("m"),
        &["--artifact-dir", "../artifacts", "--manifest-at=--output=x"],
    );
    assert_eq!(status, Some(2), "a revision is no option of git: {err}");
    assert!(words(&err).contains("at the revision `--output=x`"), "{err}");
    assert_eq!(fs::read_dir(&output).unwrap().count(), 0, "git wrote a file");
}

#[test]
fn mistakes_in_the_old_manifest_name_its_revision() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
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

/// HEAD does not plan. The working tree repairs it and is compared with HEAD's parent.
#[test]
fn a_repair_is_compared_with_the_last_manifest_that_plans() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
    git(dir.path(), &["init", "-q"]);
    let commit = |name: &str| {
        git(dir.path(), &["add", "m"]);
        git(dir.path(), &["commit", "-q", "-m", name]);
    };
    commit("fine");
    edit(dir.path(), "artifact \"base\"", "artefact \"base\"");
    commit("faulty");
    edit(dir.path(), "artefact \"base\"", "artifact \"base\"");
    edit(dir.path(), "summary \"ROCm math", "summary \"All math");
    let artifacts = ["--artifact-dir", "artifacts", "--manifest-at", "HEAD", "m"];
    let (status, _, err) = diff(dir.path(), &artifacts);
    assert!(status == Some(1) && words(&err).contains("HEAD does not plan: "), "{err}");
    assert!(words(&err).contains("--against-last-good"), "{err}");
    let (status, out, err) = diff(dir.path(), &[&artifacts[..], &["--against-last-good"]].concat());
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.starts_with("nothing lost\n") && out.contains("HEAD does not plan: "), "{out}");
    assert!(words(&err).contains("HEAD does not plan: "), "{err}");
}

/// No commit plans; the contract of the last release is the old side of the repair.
#[test]
fn a_repair_is_compared_with_a_saved_contract() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
    let plan = ["plan", "--artifact-dir", "artifacts", "--manifest", "m"];
    let saved = rockpack(dir.path(), &[&plan[..], &["--contract", "c.json", "--json"]].concat());
    assert!(saved.status.success(), "{}", text(&saved.stderr));
    edit(dir.path(), "artifact \"base\"", "artefact \"base\"");
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "m"]);
    git(dir.path(), &["commit", "-q", "-m", "faulty"]);
    edit(dir.path(), "artefact \"base\"", "artifact \"base\"");
    let at_head = ["--artifact-dir", "artifacts", "--manifest-at", "HEAD", "m"];
    let (status, _, err) = diff(dir.path(), &[&at_head[..], &["--against-last-good"]].concat());
    let help = "no earlier commit changed the manifest: give as OLD a contract";
    assert!(status == Some(1) && words(&err).contains(help), "{err}");
    let with_contract = ["--artifact-dir", "artifacts", "c.json", "m"];
    let (status, out, err) = diff(dir.path(), &with_contract);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.starts_with("nothing lost\n"), "{out}");
    edit(dir.path(), EXCLUDE_CLANG.0, EXCLUDE_CLANG.1);
    let (status, out, _) = diff(dir.path(), &with_contract);
    assert!(status == Some(1) && !out.starts_with("nothing lost"), "{out}");
}

/// The old manifest lacks an ISA of the artifacts. Its packages are additions, not an error of the
/// old side.
#[test]
fn a_new_isa_is_an_addition() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
    let file = dir.path().join("m/families.kdl");
    let families = fs_err::read_to_string(&file).unwrap();
    let line = families.lines().find(|line| line.starts_with("isa \"gfx1100\"")).unwrap();
    fs_err::write(&file, families.replace(line, "")).unwrap();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "m"]);
    git(dir.path(), &["commit", "-q", "-m", "one"]);
    fs_err::write(&file, &families).unwrap();
    let artifacts = ["--artifact-dir", "artifacts", "--manifest-at", "HEAD", "m"];
    let (status, out, err) = diff(dir.path(), &artifacts);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.starts_with("nothing lost\n"), "{out}");
    let added = out.lines().any(|line| line.starts_with('+') && line.contains("-gfx1100"));
    assert!(added, "{out}");
}

#[test]
fn reports_missing_git() {
    let dir = with_manifest();
    let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
        .args(["diff", "--artifact-dir", "artifacts", "--manifest-at", "main", "m"])
        .current_dir(dir.path())
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("the program `git` is not in PATH"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn reports_a_missing_repository() {
    if !has_git() {
        return;
    }
    let dir = with_manifest();
    let (status, _, err) =
        diff(dir.path(), &["--artifact-dir", "artifacts", "--manifest-at", "main", "m"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("not a git repository"), "{err}");
}

/// Makes the manifests `old` and `m`, which excludes clang's headers, and their plans `old.json` and
/// `new.json`.
fn write_plans(dir: &Path) {
    crate::repository::copy(&dir.join("old"), "");
    edit(dir, EXCLUDE_CLANG.0, EXCLUDE_CLANG.1);
    for (manifest, plan) in [("old", "old.json"), ("m", "new.json")] {
        let planned = rockpack(
            dir,
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
        fs::write(dir.join(plan), planned.stdout).unwrap();
    }
}

#[test]
fn two_manifests_and_two_plans_give_the_same_difference() {
    let dir = with_manifest();
    write_plans(dir.path());
    let without_labels = |text: String| {
        let lines =
            text.lines().filter(|line| !line.starts_with("old  ") && !line.starts_with("new  "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (status, manifests, _) = diff(dir.path(), &["--artifact-dir", "artifacts", "old", "m"]);
    assert_eq!(status, Some(1), "a file is lost");
    assert!(manifests.contains(MOVED), "{manifests}");
    let (_, plans, err) = diff(dir.path(), &["old.json", "new.json"]);
    assert!(words(&err).contains(LOST) && err.contains("--allow loss"), "{err}");
    assert_eq!(without_labels(plans), without_labels(manifests));
    let (_, mixed, _) =
        diff(dir.path(), &["--artifact-dir", "artifacts", "--manifest", "m", "old.json"]);
    assert!(mixed.contains(MOVED), "a plan and the manifest: {mixed}");
}

#[test]
fn a_difference_of_plans_has_every_format_and_can_be_allowed() {
    let dir = with_manifest();
    write_plans(dir.path());
    let (status, accepted, err) = diff(dir.path(), &["--allow", "loss", "old.json", "new.json"]);
    assert_eq!((status, &*err), (Some(0), ""), "differences are no failure");
    let first = "nothing lost except allowed losses\nallowed: users of";
    assert!(accepted.starts_with(first) && accepted.contains(": --allow loss\n"), "{accepted}");
    let all = ["--allow", "loss", "--exit-code", "old.json", "new.json"];
    assert_eq!(diff(dir.path(), &all).0, Some(1));
    let (status, html, _) = diff(dir.path(), &["--format", "html", "old.json", "new.json"]);
    assert_eq!(status, Some(1));
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains(LOST_FILE), "{html}");
    let (_, json, _) = diff(dir.path(), &["--json", "old.json", "new.json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["format"], &json["moved"][0]["from"]["title"]),
        (&1.into(), &"rocm-sdk-core".into())
    );
    let (_, markdown, _) = diff(dir.path(), &["--format", "markdown", "old.json", "new.json"]);
    assert!(markdown.contains("```diff\n@@ moved @@\n"), "{markdown}");
}

/// A list of families applies to both sides. With a list of its own, the old side keeps the dropped
/// GPU, which is a loss.
#[test]
fn a_dropped_gpu_is_lost() {
    let dir = with_manifest();
    let sides = ["--artifact-dir", "artifacts", "--linux-amdgpu-families", "gfx942", "m", "m"];
    let (status, out, err) = diff(dir.path(), &sides);
    assert_eq!((status, &*out), (Some(0), "no difference\n"), "{err}");
    let old = ["--old-linux-amdgpu-families", "gfx942,gfx1100"];
    let (status, out, err) = diff(dir.path(), &[&old, &sides[..]].concat());
    assert_eq!(status, Some(1), "{out}");
    assert!(words(&err).contains("rocm-sdk-device-gfx1100"), "{err}");
}

/// The line that the help proposes allows the loss. The same line in the old manifest allows
/// nothing.
#[test]
fn the_proposed_line_accepts_the_loss() {
    let dir = with_manifest();
    let old = dir.path().join("old");
    crate::repository::copy(&old, "");
    edit(dir.path(), EXCLUDE_CLANG.0, EXCLUDE_CLANG.1);
    let line = ACCEPTING.replace('…', "headers are for devel") + "\n\npackage \"core\"";
    edit(dir.path(), "package \"core\"", &line);
    let checked = rockpack(dir.path(), &["check", "--manifest", "m"]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let compare = ["--artifact-dir", "artifacts", "old", "m"];
    let (status, out, err) = diff(dir.path(), &compare);
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!("allowed: {LOST}: headers are for devel (packages.kdl:");
    assert!(joined.contains(&expected), "{out}");
    edit(dir.path(), EXCLUDE_CLANG.1, EXCLUDE_CLANG.0);
    fs::remove_dir_all(&old).unwrap();
    fs::rename(dir.path().join("m"), &old).unwrap();
    crate::repository::copy(&dir.path().join("m"), "");
    edit(dir.path(), EXCLUDE_CLANG.0, EXCLUDE_CLANG.1);
    edit(dir.path(), "package \"core\"", &line);
    assert_eq!(
        diff(dir.path(), &compare).0,
        Some(1),
        "the old manifest has the line too, so it does not allow the new loss"
    );
}

/// A renamed package is a loss, unless `renames` makes an empty package of the former name.
#[test]
fn a_rename_loses_nothing_if_the_former_name_is_still_built() {
    let dir = with_manifest();
    crate::repository::copy(&dir.path().join("old"), "");
    let (name, renamed) = ("distribution \"rocm-profiler\"", "distribution \"rocm-profilers\"");
    edit(dir.path(), name, renamed);
    let compare = ["--artifact-dir", "artifacts", "old", "m"];
    let (status, out, err) = diff(dir.path(), &compare);
    let verdict = "`rocm-profiler` was renamed to `rocm-profilers`: its users keep both packages\n";
    assert!(out.starts_with(verdict), "{out}");
    let line = "renames=\"rocm-profiler\"";
    assert!(status == Some(1) && words(&err).contains(line), "{err}");
    edit(dir.path(), renamed, &format!("{renamed} {line}"));
    let (status, out, err) = diff(dir.path(), &compare);
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    assert!(out.starts_with("nothing lost\n"), "{out}");
    let build = ["build", "--artifact-dir", "artifacts", "--manifest", "m", "-o", "out"];
    let made = crate::program::uncached(dir.path(), &build).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let verified = rockpack(dir.path(), &["wheel", "verify", "out/dist", "--manifest", "m"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
    let packages = text(&verified.stdout);
    assert!(
        packages.contains("rocm_profiler-") && packages.contains("rocm_profilers-"),
        "{packages}"
    );
}

/// With `--deny-warnings`, a warning fails the command before anything is written.
#[test]
fn deny_warnings_fails_plan_build_diff_and_check() {
    let dir = with_manifest();
    crate::repository::copy(&dir.path().join("old"), "");
    let library = "    find-library \"rpp\"\n";
    edit(dir.path(), library, &format!("    find-library \"gone\" so=\"lib/gone.so\"\n{library}"));
    let artifacts = ["--artifact-dir", "artifacts", "--manifest", "m"];
    let build = [&["build", "-o", "out"], &artifacts[..]].concat();
    let plan = [&["plan"], &artifacts[..]].concat();
    let compare = ["diff", "old", "m", "--artifact-dir", "artifacts"].to_vec();
    for command in [plan, build, compare] {
        let denied = rockpack(dir.path(), &[&command[..], &["--deny-warnings"]].concat());
        let shown = text(&denied.stderr);
        assert_eq!(denied.status.code(), Some(1), "{command:?}: {shown}");
        assert!(shown.contains("× package `libraries` lacks"), "{command:?}: {shown}");
        assert!(!dir.path().join("out").exists(), "{command:?} wrote");
        let quiet = [&command[..], &["--deny-warnings", "--quiet"]].concat();
        assert_eq!(rockpack(dir.path(), &quiet).status.code(), Some(1), "{command:?}");
    }
    let allowed =
        rockpack(dir.path(), &["diff", "m", "m", "--artifact-dir", "artifacts", "--deny-warnings"]);
    assert_eq!(allowed.status.code(), Some(0), "only new warnings count");
    // A deprecated SPDX identifier: a warning of `check`.
    edit(dir.path(), "license \"MIT\"", "license \"GPL-2.0\"");
    let check = ["check", "--manifest", "m"];
    let warned = rockpack(dir.path(), &check);
    assert_eq!(warned.status.code(), Some(0), "{}", text(&warned.stderr));
    let denied = rockpack(dir.path(), &[&check[..], &["--deny-warnings"]].concat());
    assert_eq!(denied.status.code(), Some(1), "{}", text(&denied.stderr));
    assert_eq!(text(&denied.stdout), "", "it does not report success");
}

#[test]
fn reports_an_invalid_side() {
    let dir = with_manifest();
    fs::write(dir.path().join("text"), "plan").unwrap();
    fs::write(dir.path().join("other.json"), "{\"a\": 1}").unwrap();
    fs::write(dir.path().join("future.json"), "{\"format\": 99, \"all\": \"new\"}").unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (side, needle) in [
        ("text", "cannot read text: it is neither a plan nor a contract"),
        ("other.json", "cannot read other.json: this is not a plan"),
        ("future.json", "this plan has format 99"),
    ] {
        let (status, out, err) = diff(dir.path(), &[side, side]);
        assert_eq!((status, &*out), (Some(1), ""), "{side}: {err}");
        assert!(err.contains(needle), "{side}: {needle:?} is not in:\n{err}");
    }
    for (args, needle) in [
        (&["nowhere", "nowhere"][..], "nowhere does not exist"),
        (&["empty", "empty"], "empty has no built packages"),
        (&["m", "m"], "needs artifacts"),
        (&["--manifest-at", "main", "m", "m"], "--manifest-at replaces OLD"),
        (&[], "<OLD>"),
        (&["--json", "--format", "files", "a", "b"], "cannot be used with"),
        (
            &["--old-linux-amdgpu-families", "gfx942", "empty", "m"],
            "families of OLD are given, but OLD is not a manifest",
        ),
    ] {
        let (status, out, err) = diff(dir.path(), args);
        assert_eq!((status, &*out), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(needle), "{args:?}: {needle:?} is not in:\n{err}");
    }
}

/// Control characters of terminals are escaped in every text; JSON has the exact values.
#[test]
fn control_characters_are_escaped() {
    let dir = with_manifest();
    let plan = ["plan", "--artifact-dir", "artifacts", "--manifest", "m", "--json"];
    let mut plan: serde_json::Value =
        serde_json::from_slice(&rockpack(dir.path(), &plan).stdout).unwrap();
    fs::write(dir.path().join("old.json"), plan.to_string()).unwrap();
    let hostile = "x\u{1b}[31m\n+ line\u{202e}\u{9b}";
    plan["distributions"][1]["metadata"]["summary"] = hostile.into();
    plan["notes"][0]["text"] = hostile.into();
    plan["platform_tag"] = "any\u{1b}]0;title\u{7}".into();
    fs::write(dir.path().join("new\u{1b}.json"), plan.to_string()).unwrap();
    for form in ["text", "files", "markdown", "html"].map(|form| ["--format", form]) {
        let args = [&["diff", "old.json", "new\u{1b}.json"], &form[..]].concat();
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

/// A new warning is a line of the difference, and not repeated on standard error. A warning that the
/// manifest accepts is in neither.
#[test]
fn reports_new_warnings() {
    let dir = with_manifest();
    crate::repository::copy(&dir.path().join("old"), "");
    let library = "    find-library \"rpp\"\n";
    edit(dir.path(), library, &format!("    find-library \"gone\" so=\"lib/gone.so\"\n{library}"));
    let compare = ["diff", "old", "m", "--artifact-dir", "artifacts"];
    let output = rockpack(dir.path(), &compare);
    let difference = text(&output.stdout);
    assert!(
        difference.contains("\nwarnings\n  + missing-library: package `libraries` lacks"),
        "{difference}"
    );
    let err = text(&output.stderr);
    assert!(!err.contains("runtime finds by name"), "{err}");
    let ignore = "ignore \"missing-library\" package=\"libraries\" reason=\"agreed\"\n\n";
    edit(dir.path(), "package \"core\"", &format!("{ignore}package \"core\""));
    let output = rockpack(dir.path(), &compare);
    let (difference, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!difference.contains("+ missing-library: "), "{difference}");
    assert!(!err.contains("runtime finds by name"), "{err}");
}
