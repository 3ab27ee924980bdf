//! Composite action for pull requests: summary and comment begin with the verdict.

use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;

use crate::demo_tree::scratch;
use crate::program::{PROGRAM, done, text};
use crate::skips::has;

fn run(dir: &Path, script: &str) -> Output {
    let path = format!("{}:{}", dir.join("programs").display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euc", script]).current_dir(dir).env("PATH", path);
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        bash.env(name, "/dev/null");
    }
    bash.envs([("CATALOG", "c.json"), ("MANIFEST", "m"), ("BASE", "HEAD"), ("TITLE", "packages")]);
    bash.env_remove("GITHUB_WORKSPACE").env_remove("ROCKPACK_MANIFEST");
    bash.env("RUNNER_TEMP", dir).env("GITHUB_STEP_SUMMARY", dir.join("summary.md"));
    bash.output().unwrap()
}

#[test]
fn a_pull_request_with_a_loss_or_a_new_warning_fails_after_its_comment_is_written() {
    if !has("bash", "the action of reviews") || !has("git", "the action of reviews") {
        return;
    }
    let scratch = scratch(true);
    let dir = scratch.path();
    crate::repository::copy(&dir.join("m"), "");
    done(dir, &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "c.json"]);
    fs::create_dir(dir.join("programs")).unwrap();
    std::os::unix::fs::symlink(PROGRAM, dir.join("programs/rockpack")).unwrap();
    let commit =
        "git init -q && git add m && git -c user.name=t -c user.email=t@example.org commit -qm 1";
    assert!(run(dir, commit).status.success());
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/actions/review/review");
    let review = || {
        let _ = fs::remove_file(dir.join("summary.md"));
        let done = run(dir, &format!("'{}' plan", action.display()));
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
        let (comment, summary) = (read("rockpack-review.md"), read("summary.md"));
        assert!(comment.starts_with("<!-- rockpack review: packages -->\n## packages\n\n"));
        assert!(summary.starts_with(&comment), "{summary}");
        (done.status.code(), comment, text(&done.stderr))
    };
    let (status, comment, err) = review();
    assert_eq!((status, &*err), (Some(0), ""), "{comment}");
    assert!(comment.ends_with("\n\nno difference\n"), "{comment}");
    let file = dir.join("m/packages.kdl");
    let packages = fs::read_to_string(&file).unwrap();
    let exclude = "    exclude \"**/cmake/**\"\n";
    let edit = |old: &str, new: &str| fs::write(&file, packages.replacen(old, new, 1)).unwrap();
    edit(exclude, &format!("{exclude}    exclude \"lib/llvm/lib/clang/**\"\n"));
    let (status, comment, err) = review();
    assert_eq!(status, Some(1), "{err}");
    let verdict = "> [!CAUTION]\n> **users of `rocm-sdk-core` alone lose 1 file";
    assert!(comment.contains(verdict) && err.contains("::error"), "{comment}{err}");
    assert!(fs::read_to_string(dir.join("summary.md")).unwrap().contains("rocm-sdk-libraries"));
    let library = "    find-library \"rpp\"\n";
    edit(library, &format!("    find-library \"gone\" so=\"lib/gone.so\"\n{library}"));
    let (status, comment, err) = review();
    assert_eq!(status, Some(1), "{comment}");
    assert!(comment.contains("> **nothing lost**"), "{comment}");
    assert!(err.contains("::error") && err.contains("line="), "{err}");
    edit(exclude, "    exclude \"**/cmake/**\" \"[\"\n");
    let (status, comment, _) = review();
    assert_eq!(status, Some(1));
    assert!(comment.contains("There is no plan: the job has the reasons."), "{comment}");
}
