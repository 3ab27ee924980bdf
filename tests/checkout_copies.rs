//! Copies of checkouts that projects are built from: git works in them as in the checkouts.

use std::path::Path;
use std::process::Command;

use fs_err as fs;
use rockpack::source_build::copy_checkout;

use crate::skips::has;

fn git(directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
    command.args(["-c", "protocol.file.allow=always"]);
    let done = command.args(words).current_dir(directory).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[test]
fn git_works_in_a_copy_of_a_submodule_and_changes_nothing_outside() {
    if !has("git", "git in the copies of checkouts") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    for name in ["library", "main"] {
        fs::create_dir(place(name)).unwrap();
        git(&place(name), &["init", "-q", "-b", "trunk"]);
        git(&place(name), &["commit", "-q", "--allow-empty", "-m", "one"]);
    }
    fs::write(place("library").join("file"), "x").unwrap();
    git(&place("library"), &["add", "file"]);
    git(&place("library"), &["commit", "-q", "-m", "two"]);
    let address = place("library").display().to_string();
    git(&place("main"), &["submodule", "--quiet", "add", &address, "sub"]);
    let checkout = place("main").join("sub");
    git(&checkout, &["checkout", "-q", "--detach"]);
    let commit = git(&checkout, &["rev-parse", "HEAD"]);
    let copied = place("copy");
    copy_checkout(&checkout, &copied, Some("release/1.0")).unwrap();
    assert_eq!(git(&copied, &["branch", "--show-current"]), "release/1.0");
    assert_eq!(git(&copied, &["rev-list", "release/1.0", "--count"]), "2");
    assert_eq!(git(&copied, &["rev-parse", "HEAD"]), commit);
    assert_eq!(git(&copied, &["status", "--porcelain"]), "");
    git(&copied, &["commit", "-q", "--allow-empty", "-m", "three"]);
    assert_eq!(git(&checkout, &["rev-list", "--all", "--count"]), "2");
    assert_eq!(git(&checkout, &["branch", "--show-current"]), "");
}
