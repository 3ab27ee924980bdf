//! Files that cannot be written: one exit status for all commands, and nothing half-written.

use std::path::Path;
use std::process::{Command, Output};

use crate::program::{self, PROGRAM, said, text};

/// Runs the program with a limit of a block for each file.
fn limited(dir: &Path, args: &[&str]) -> Output {
    let script = "ulimit -f 1; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).args(args).current_dir(dir);
    command.env("ROCKPACK_NO_CACHE", "1").env("ROCKPACK_MANIFEST", "built-in");
    command.output().unwrap()
}

#[test]
fn a_file_without_space_is_an_error_of_the_environment() {
    let scratch = crate::demo_tree::scratch(true);
    let dir = scratch.path();
    let tag = ["--platform-tag", "linux_x86_64"];
    let build = [&["build", "--artifact-dir", "artifacts", "-o", "out"][..], &tag].concat();
    let output = program::uncached(dir, &build).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs_err::create_dir(dir.join("new")).unwrap();
    let wheel = "out/dist/rocm_sdk_core-7.2.0.dev0-py3-none-linux_x86_64.whl";
    for args in [
        &["build", "--artifact-dir", "artifacts", "-o", "new", tag[0], tag[1]][..],
        &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "new/catalog.json"],
        &["wheel", "retag", wheel, "--platform-tag", "manylinux_2_28_x86_64", "-o", "new"],
        &["wheel", "repack", wheel, "--compression", "fast", "-o", "new"],
        &["wheel", "promote", "out", "--to", "7.2.0", "-o", "new"],
        &["merge", "out", "-o", "new"],
        &["index", "publish", "out/dist", "new"],
    ] {
        let output = limited(dir, args);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("File too large"), "{args:?}: {said}");
        let left: Vec<_> = walkdir::WalkDir::new(dir.join("new")).into_iter().flatten().collect();
        let files = left.iter().filter(|entry| entry.file_type().is_file());
        assert_eq!(files.count(), 0, "{args:?}: {left:?}");
    }
}

/// The standard library panics if a directory cannot be closed.
#[test]
fn a_panic_of_any_thread_ends_the_process() {
    if !workbench::skips::has("strace", "panics of threads") {
        return;
    }
    let scratch = tempfile::TempDir::new().unwrap();
    let dir = scratch.path();
    for number in 0..9 {
        crate::index::packages::wheel(&dir.join("in"), &format!("part-{number}"), "1.0", &[]);
    }
    // The first of each thread. Later ones may be of a lock, which a call that does not run keeps
    // for ever.
    let mut command = Command::new("timeout");
    command.args(["60", "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=close", "-e"]);
    command.args(["inject=close:error=ENOSPC:when=1", PROGRAM, "index", "publish", "in", "store"]);
    command.current_dir(dir).env("ROCKPACK_NO_CACHE", "1").env("ROCKPACK_MANIFEST", "built-in");
    let output = command.output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(101), "{said}");
    assert!(said.contains("panicked"), "{said}");
}
