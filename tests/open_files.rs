//! Commands take any number of packages with few open files.

use std::path::Path;
use std::process::{Command, Output};

use base::names::Form;
use fs_err as fs;
use tempfile::TempDir;

use crate::index::demo;
use crate::index::packages::wheel;
use crate::program::{PROGRAM, text};

/// Distributions, each in two versions.
const DISTRIBUTIONS: usize = 200;

/// Number of files below a directory with this ending.
fn files_below(dir: &Path, ending: &str) -> usize {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(ending)).count()
}

/// Runs the program with at most 128 open files.
fn limited(dir: &Path, args: &[&str]) -> Output {
    let script = "ulimit -n 128; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).args(args).current_dir(dir);
    command.env("ROCKPACK_NO_CACHE", "1").env("ROCKPACK_MANIFEST", "built-in");
    command.output().unwrap()
}

fn many(dir: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for version in ["1.0", "2.0"] {
        for number in 0..DISTRIBUTIONS {
            let path = wheel(&dir.join("in"), &format!("part-{number}"), version, &[]);
            paths.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
        }
    }
    paths
}

#[test]
fn four_hundred_packages_need_few_open_files() {
    // In memory, if possible: each package is synced to the disk.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
    let dir = place.path();
    let wheels = many(dir);
    for entry in fs::read_dir(demo("linux_x86_64")).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap();
        if Form::of_file(name).is_some() {
            fs::create_dir_all(dir.join("build")).unwrap();
            fs::copy(&from, dir.join("build").join(name)).unwrap();
        }
    }
    for path in &wheels {
        let from = dir.join(path);
        fs::hard_link(&from, dir.join("build").join(from.file_name().unwrap())).unwrap();
    }
    let tag = ["--platform-tag", "linux_x86_64", "-o", "retagged"];
    let files: Vec<&str> = wheels.iter().map(String::as_str).collect();
    let commit = "0123456789012345678901234567890123456789";
    let commands: [&[&str]; 9] = [
        &["wheel", "verify", "in"],
        &[&["wheel", "audit"][..], &files].concat(),
        &[&["wheel", "repack", "--compression", "fast", "-o", "repacked"][..], &files].concat(),
        &[&["wheel", "retag"], &tag[..], &files].concat(),
        &["wheel", "promote", "build", "--to", "7.2.0", "-o", "promoted"],
        &["merge", "in", "-o", "merged", "--source-commit", commit],
        &["index", "publish", "in", "store", "--stream", "dev"],
        &["index", "prune", "store", "--stream", "dev", "--as-of", "4000000000"],
        &["index", "write", "in"],
    ];
    for args in commands {
        let output = limited(dir, args);
        let shown = &args[..2];
        assert!(output.status.success(), "{shown:?}: {}", text(&output.stderr));
    }
    let count = |dir: &Path| files_below(dir, ".whl");
    for whole in ["repacked", "retagged", "merged/dist"] {
        assert_eq!(count(&dir.join(whole)), 2 * DISTRIBUTIONS, "{whole}");
    }
    assert_eq!(count(&dir.join("store")), DISTRIBUTIONS, "older versions are pruned");
}
