//! Signals during downloads: no partial file stays.
//!
//! Files unpacked by a build are unnamed, so they cannot stay; fetched files have names.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Number of interrupted runs of each command.
const RUNS: usize = 20;

/// Starts a command with `tmp` as directory of temporary files.
fn start(dir: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command.args(args).current_dir(dir).env("ROCKPACK_MANIFEST", "built-in");
    command.env("ROCKPACK_NO_CACHE", "1").env("TMPDIR", dir.join("tmp"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the number of unnamed files that a process has open below a directory.
pub(super) fn unnamed(process: &Child, dir: &Path) -> usize {
    let dir = fs::canonicalize(dir).unwrap();
    let open = fs::read_dir(format!("/proc/{}/fd", process.id())).into_iter().flatten().flatten();
    let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let below = |target: &std::path::PathBuf| target.starts_with(&dir);
    targets.filter(|target| below(target) && !target.exists()).count()
}

/// Returns the partial files in a directory: names with `rockpack-`, and all files of `tmp`.
fn partial_files(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.contains("rockpack-") || dir.ends_with("tmp")).collect()
}

#[test]
fn a_signal_at_the_first_partial_file_leaves_nothing() {
    let scratch = scratch();
    let dir = scratch.path();
    let (tmp, fetched) = (dir.join("tmp"), dir.join("fetched"));
    let address = address(dir);
    let families = ["--linux-amdgpu-families", "gfx942", "--mode", "kpack"];
    let build = ["build", "--artifact-dir", &*address, "-o", "out"];
    let fetch = ["artifact", "fetch", &*address, "-o", "fetched"];
    for (args, place) in [(&build[..], &tmp), (&fetch[..], &fetched)] {
        let mut hits = 0;
        for _ in 0..RUNS {
            let _ = fs::remove_dir_all(&fetched);
            fs::create_dir_all(&tmp).unwrap();
            let mut child = start(dir, &[args, &families].concat());
            let begun = Instant::now();
            let has_partial =
                |child: &Child| !partial_files(place).is_empty() || unnamed(child, &tmp) > 0;
            // Waits for the first partial file, so that the signal arrives during the transfer.
            let mut is_partial = has_partial(&child);
            while !is_partial
                && child.try_wait().unwrap().is_none()
                && begun.elapsed() < Duration::from_mins(1)
            {
                std::thread::yield_now();
                is_partial = has_partial(&child);
            }
            let pid = rustix::process::Pid::from_child(&child);
            // The process may have ended. `timeout` sends two signals; the system would merge two
            // of one kind.
            for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
                let _ = rustix::process::kill_process(pid, signal);
            }
            let status = child.wait().unwrap();
            assert_eq!(partial_files(place), Vec::<String>::new(), "{args:?}");
            // A process can end between the look and the signal.
            hits += usize::from(is_partial && !status.success());
            let _ = fs::remove_dir_all(dir.join("out"));
        }
        assert!(hits > 0, "no signal interrupted {args:?}");
    }
}
