//! Signals while archives come: whenever one arrives, nothing stays that is not whole.
//!
//! What a build unpacks has no name, so that it cannot stay; what it fetches has one.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// How often each command is told to end.
const TIMES: usize = 20;

/// Starts a command whose temporary files go to `tmp`.
fn started(dir: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command.args(args).current_dir(dir).env("ROCKPACK_MANIFEST", "built-in");
    command.env("ROCKPACK_NO_CACHE", "1").env("TMPDIR", dir.join("tmp"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How many files a process has open below a directory that have no name there.
pub(super) fn unnamed(process: &Child, dir: &Path) -> usize {
    let dir = fs::canonicalize(dir).unwrap();
    let open = fs::read_dir(format!("/proc/{}/fd", process.id())).into_iter().flatten().flatten();
    let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let below = |target: &std::path::PathBuf| target.starts_with(&dir);
    targets.filter(|target| below(target) && !target.exists()).count()
}

/// What a directory has of files that are not whole yet: those of fetching have such names, and others have none.
fn left(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.contains("rockpack-") || dir.ends_with("tmp")).collect()
}

#[test]
fn a_signal_leaves_nothing_whenever_it_comes() {
    let scratch = scratch();
    let dir = scratch.path();
    let (tmp, fetched) = (dir.join("tmp"), dir.join("fetched"));
    let address = address(dir);
    let families = ["--linux-amdgpu-families", "gfx942", "--mode", "kpack"];
    let build = ["build", "--artifact-dir", &*address, "-o", "out"];
    let fetch = ["artifact", "fetch", &*address, "-o", "fetched"];
    for (args, place) in [(&build[..], &tmp), (&fetch[..], &fetched)] {
        for _ in 0..TIMES {
            let _ = fs::remove_dir_all(&fetched);
            fs::create_dir_all(&tmp).unwrap();
            let mut child = started(dir, &[args, &families].concat());
            let start = Instant::now();
            // The moment when the first file or directory is there is the one with the least room.
            while left(place).is_empty()
                && unnamed(&child, &tmp) == 0
                && child.try_wait().unwrap().is_none()
                && start.elapsed() < Duration::from_mins(1)
            {
                std::thread::yield_now();
            }
            let pid = rustix::process::Pid::from_child(&child);
            // It may have ended already. `timeout` signals it twice; the system would join two of one kind.
            for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
                let _ = rustix::process::kill_process(pid, signal);
            }
            child.wait().unwrap();
            assert_eq!(left(place), Vec::<String>::new(), "{args:?}");
        }
    }
}
