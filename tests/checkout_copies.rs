//! Copies of checkouts for project builds: git works in them as in the originals.

use std::path::Path;
use std::process::Command;

use fs_err as fs;
use projects::{CheckoutContent, NamedFiles, copy_checkout};
use walkdir::WalkDir;

use workbench::skips::has;

fn git(directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
    command.args(["-c", "protocol.file.allow=always"]);
    let output = command.args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
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
    let content = CheckoutContent::read(&checkout, &NamedFiles::default()).unwrap();
    copy_checkout(&checkout, &copied, &content, Some("release/1.0")).unwrap();
    assert_eq!(git(&copied, &["branch", "--show-current"]), "release/1.0");
    assert_eq!(git(&copied, &["rev-list", "release/1.0", "--count"]), "2");
    assert_eq!(git(&copied, &["rev-parse", "HEAD"]), commit);
    assert_eq!(git(&copied, &["status", "--porcelain"]), "");
    git(&copied, &["commit", "-q", "--allow-empty", "-m", "three"]);
    assert_eq!(git(&checkout, &["rev-list", "--all", "--count"]), "2");
    assert_eq!(git(&checkout, &["branch", "--show-current"]), "");
}

/// Makes a checkout with a submodule `sub`, each with a file and a `.gitignore` line.
fn nested(place: &Path) -> std::path::PathBuf {
    for name in ["library", "main"] {
        let repository = place.join(name);
        fs::create_dir(&repository).unwrap();
        git(&repository, &["init", "-q", "-b", "trunk"]);
        fs::write(repository.join(".gitignore"), "*.so\n/build\n").unwrap();
        fs::write(repository.join("code.py"), name).unwrap();
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", "one"]);
    }
    let (main, library) = (place.join("main"), place.join("library").display().to_string());
    git(&main, &["submodule", "--quiet", "add", &library, "sub"]);
    git(&main, &["commit", "-q", "-m", "two"]);
    git(&main, &["remote", "add", "origin", "https://user:word@example.org/main.git"]);
    main
}

fn names(paths: &[std::path::PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn a_copy_has_the_files_of_git_and_of_the_manifest() {
    if !has("git", "the files of checkouts that are built") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let main = nested(directory.path());
    for path in [
        "hip/a.cpython-39-x86_64-linux-gnu.so",
        "build/lib/a.py",
        "sub/old.so",
        "gen/x.so",
        "made/y.so",
    ] {
        fs::create_dir_all(main.join(path).parent().unwrap()).unwrap();
        fs::write(main.join(path), "left over").unwrap();
    }
    let clean = CheckoutContent::read(&main, &NamedFiles::default()).unwrap();
    assert!(!clean.is_dirty() && clean.is_versioned(), "{clean:?}");
    assert_eq!(
        names(&clean.files),
        [".gitignore", ".gitmodules", "code.py", "sub/.gitignore", "sub/code.py"]
    );
    let commits = clean.repositories.iter().map(|r| (r.path.to_str().unwrap(), r.commit.clone()));
    let head = |place: &Path| Some(git(place, &["rev-parse", "HEAD"]));
    assert_eq!(
        commits.collect::<Vec<_>>(),
        [("", head(&main)), ("sub", head(&directory.path().join("library")))]
    );

    fs::write(main.join("new.py"), "new").unwrap();
    fs::write(main.join("fetched.py"), "of a script").unwrap();
    fs::write(main.join("sub/code.py"), "changed").unwrap();
    let glob = manifest::Glob::new("gen").unwrap();
    let named = NamedFiles::new(
        // `sub` has tracked files: its untracked ones, such as sub/old.so, do not count as named.
        ["fetched.py", "sub", "made"].map(|path| path.parse().unwrap()).into(),
        vec![glob],
    );
    let content = CheckoutContent::read(&main, &named).unwrap();
    assert_eq!(names(&content.changed), ["new.py", "sub/code.py"]);
    assert_eq!(names(&content.named), ["fetched.py", "gen/x.so", "made/y.so"]);
    let copied = directory.path().join("copy");
    copy_checkout(&main, &copied, &content, None).unwrap();
    let walk = WalkDir::new(&copied).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git").map(Result::unwrap);
    let files = walk.filter(|entry| entry.file_type().is_file());
    let files: Vec<_> = files.map(|e| e.path().strip_prefix(&copied).unwrap().to_owned()).collect();
    assert_eq!(
        names(&files),
        [
            ".gitignore",
            ".gitmodules",
            "code.py",
            "fetched.py",
            "gen/x.so",
            "made/y.so",
            "new.py",
            "sub/.gitignore",
            "sub/code.py"
        ]
    );
    assert_eq!(fs::read_to_string(copied.join("sub/code.py")).unwrap(), "changed");
    assert_eq!(git(&copied.join("sub"), &["rev-parse", "HEAD"]), commits_of(&content)[1]);

    // Another commit of a submodule makes the checkout dirty, and so does a removed file.
    git(&main.join("sub"), &["commit", "-q", "-a", "-m", "three"]);
    fs::remove_file(main.join("code.py")).unwrap();
    let content = CheckoutContent::read(&main, &named).unwrap();
    assert_eq!(names(&content.changed), ["code.py", "new.py", "sub"]);
    assert!(!names(&content.files).contains(&"code.py"));
}

fn commits_of(content: &CheckoutContent) -> Vec<String> {
    content.repositories.iter().map(|r| r.commit.clone().unwrap()).collect()
}

#[test]
fn without_version_control_a_copy_has_everything() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("sdist"), directory.path().join("copy"));
    fs::create_dir_all(from.join("build")).unwrap();
    fs::write(from.join(".gitignore"), "*.so\n/build\n").unwrap();
    fs::write(from.join("build/a.so"), "x").unwrap();
    let content = CheckoutContent::read(&from, &NamedFiles::default()).unwrap();
    assert!(!content.is_versioned() && !content.is_dirty());
    assert_eq!(names(&content.files), [".gitignore", "build/a.so"]);
    copy_checkout(&from, &to, &content, None).unwrap();
    assert!(to.join("build/a.so").is_file());
}

#[test]
fn reading_a_checkout_starts_nothing_that_its_configuration_names() {
    if !has("git", "git's settings in checkouts") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let main = nested(directory.path());
    let mark = directory.path().join("started");
    let script = directory.path().join("monitor");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&main, &["config", "core.fsmonitor", script.to_str().unwrap()]);
    let index = fs::metadata(main.join(".git/index")).unwrap().modified().unwrap();
    CheckoutContent::read(&main, &NamedFiles::default()).unwrap();
    assert!(!mark.exists());
    assert_eq!(fs::metadata(main.join(".git/index")).unwrap().modified().unwrap(), index);
    git(&main, &["status"]);
    assert!(mark.exists(), "git starts it, unless it is told not to");
}
