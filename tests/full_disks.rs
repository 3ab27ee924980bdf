//! Files that cannot be written: one exit status for all commands, and nothing half-written.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;
use tempfile::TempDir;

use crate::package_mutations::Noise;
use crate::program::{self, PROGRAM, Run, stderr};
use crate::split_command;
use workbench::skips::{has, mounts};

/// Runs the program with a limit of a block for each file.
fn limited(dir: &Path, args: &[&str]) -> Output {
    let script = "ulimit -f 1; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).args(args).current_dir(dir);
    command.env("ROCKPACK_NO_CACHE", "1").env("ROCKPACK_MANIFEST", "built-in");
    command.output().unwrap()
}

const WHEEL: &str = "out/dist/rocm_sdk_core-7.2.0.dev0-py3-none-linux_x86_64.whl";
const BUILD: &str = "build --platform-tag linux_x86_64 --artifact-dir artifacts";
/// Commands that write below `new`; `WHEEL` is [`WHEEL`].
const COMMANDS: [&str; 10] = [
    "build --platform-tag linux_x86_64 --artifact-dir artifacts -o new",
    "build --platform-tag linux_x86_64 --artifact-dir zst -o new",
    "build --platform-tag linux_x86_64 --artifact-dir xz -o new",
    "artifact scan --artifact-dir artifacts -o new/catalog.json",
    "wheel retag WHEEL --platform-tag manylinux_2_28_x86_64 -o new",
    "wheel repack WHEEL --compression fast -o new",
    "wheel promote out --to 7.2.0 -o new",
    "wheel split in/frame-2.1+ex7-cp312-cp312-linux_x86_64.whl --version 7.0 -o new --manifest split",
    "merge out -o new",
    "index publish out/dist new",
];

/// Inputs of [`COMMANDS`].
fn inputs() -> TempDir {
    let scratch = crate::demo_tree::scratch(true);
    let dir = scratch.path();
    for args in [&*format!("{BUILD} -o out"), "artifact pack artifacts -o zst"] {
        let args: Vec<&str> = args.split(' ').collect();
        program::uncached(dir, &args).succeed();
    }
    for name in ["xz", "in", "split", "new"] {
        fs::create_dir(dir.join(name)).unwrap();
    }
    for entry in fs::read_dir(dir.join("zst")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".tar.zst") else { continue };
        let tar = zstd::decode_all(&*fs::read(dir.join("zst").join(&name)).unwrap()).unwrap();
        let file = fs::File::create(dir.join("xz").join(format!("{stem}.tar.xz"))).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(file, 1);
        xz.write_all(&tar).unwrap();
        xz.finish().unwrap();
    }
    split_command::manifest(&dir.join("split"));
    split_command::frame().write(&dir.join("in"));
    scratch
}

#[test]
fn a_file_without_space_is_an_error_of_the_environment() {
    let scratch = inputs();
    let dir = scratch.path();
    for args in COMMANDS {
        let args = args.replace("WHEEL", WHEEL);
        let args: Vec<&str> = args.split(' ').collect();
        let output = limited(dir, &args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("File too large"), "{args:?}: {said}");
        let left: Vec<_> = walkdir::WalkDir::new(dir.join("new")).into_iter().flatten().collect();
        let files = left.iter().filter(|entry| entry.file_type().is_file());
        assert_eq!(files.count(), 0, "{args:?}: {left:?}");
    }
}

/// Most kB of a small disk.
const DISK: usize = 400;

/// Runs a command with a disk of some kB at `new`, for its output, its temporary files or both, and lists the files that
/// it leaves.
const SMALL: &str = "mount -t tmpfs -o size=$1k tmpfs new || exit 77; shift; \"$0\" \"$@\"; \
    status=$?; find new -type f -printf 'LEFT %p\\n' >&2; exit $status";

#[test]
fn a_full_disk_is_named_and_left_empty() {
    if !mounts("full disks") {
        return;
    }
    let scratch = inputs();
    let dir = scratch.path();
    let (mut refused, mut finished) = (0, 0);
    for (seed, args) in (0..).zip(COMMANDS) {
        // `index publish` uploads file by file, and the next run does the rest.
        let is_whole = !args.starts_with("index publish");
        let size = (4 + Noise(seed).below(DISK)).to_string();
        let args = args.replace("WHEEL", WHEEL);
        for temporary in [dir.to_path_buf(), dir.join("new")] {
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c", SMALL, PROGRAM, &size]).args(args.split(' '));
            command.current_dir(dir).env("TMPDIR", temporary);
            command.env("ROCKPACK_NO_CACHE", "1").env("ROCKPACK_MANIFEST", "built-in");
            let output = command.output().unwrap();
            let said = stderr(&output);
            if output.status.success() {
                finished += 1;
                continue;
            }
            refused += 1;
            let scene = format!("{args}, {size} kB: {said}");
            assert_eq!(output.status.code(), Some(2), "{scene}");
            let reasons = ["No space left on device", " is full: ", "not enough disk space"];
            assert!(reasons.iter().any(|reason| said.contains(reason)), "{scene}");
            assert!(!is_whole || !said.contains("LEFT"), "{scene}");
        }
    }
    println!("{refused} refused, {finished} finished");
    assert!(refused > 5 && finished > 2, "{refused} refused, {finished} finished");
}

/// The standard library panics if a directory cannot be closed.
#[test]
fn a_panic_of_any_thread_ends_the_process() {
    if !has("strace", "panics of threads") {
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
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(101), "{said}");
    assert!(said.contains("panicked"), "{said}");
}
