//! Tests skipped for lack of a tool: recorded by each, and printed after all tests (`tests/skipped.rs`), since libtest
//! shows no output of passing tests.
//!
//! The test programs of one `cargo test` have the same parent, and so the same record.

use std::io::Write;
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::Command;

use fs_err as fs;

/// Returns whether a program is installed; otherwise records `subject` as skipped.
pub fn has(tool: &str, subject: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    if !installed {
        skip(subject, tool);
    }
    installed
}

/// Returns whether `unshare -m` can mount a tmpfs; otherwise records `subject` as skipped. It needs rights that not every
/// root has: below chroot, `/` is no mount.
pub fn mounts(subject: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "mount", "-t", "tmpfs", "tmpfs", "."]).current_dir(dir.path());
    let mounted = command.output().is_ok_and(|output| output.status.success());
    if !mounted {
        skip(subject, "the right to mount a tmpfs");
    }
    mounted
}

/// Records that `subject` is not tested here; `lacking` names the tool or the right. A tool is its first word.
pub fn skip(subject: &str, lacking: &str) {
    // libtest names threads by their test.
    let thread = std::thread::current();
    let columns = [lacking, subject, thread.name().unwrap_or("main")];
    let line = columns.map(|text| text.replace(['\t', '\n'], " ")).join("\t") + "\n";
    fs::create_dir_all(records()).unwrap();
    let mut record =
        fs::OpenOptions::new().create(true).append(true).open(records().join(run())).unwrap();
    // A single write: tests record concurrently.
    record.write_all(line.as_bytes()).unwrap();
}

/// Returns the directory of the records: beside `deps`, which holds the test programs of all packages.
pub fn records() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("skipped")
}

/// Names this run by the process that started it, and its start time.
pub fn run() -> String {
    let pid = parent_id().to_string();
    started(&pid).unwrap_or(pid)
}

/// Returns the name of a run by its process; `None` if the process does not exist.
pub fn started(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The 22nd field; the second is a name in parentheses, which may have spaces.
    let time = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{pid}-{time}"))
}
