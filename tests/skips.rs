//! What was not tested since this machine lacks something: recorded where a test is skipped, told
//! when all tests have run (`tests/skipped.rs`), since libtest shows nothing of tests that pass.
//!
//! The tests of one `cargo test` have the same parent, and so the same record.

use std::io::Write;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

/// Whether a program is there; when not, `what` is skipped.
pub fn has(tool: &str, what: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    if !found {
        skip(what, tool);
    }
    found
}

/// Records that `what` is not tested here; `lacking` names the tool or the right, in its first word
/// if it is a tool.
pub fn skip(what: &str, lacking: &str) {
    let line = format!("{}\t{}\n", lacking.replace(['\t', '\n'], " "), what.replace('\n', " "));
    fs_err::create_dir_all(place()).unwrap();
    let mut record =
        fs_err::OpenOptions::new().create(true).append(true).open(place().join(run())).unwrap();
    // One write: tests record side by side.
    record.write_all(line.as_bytes()).unwrap();
}

/// Where runs record.
pub fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped")
}

/// The name of this run: the process that started this one, and when that was started.
pub fn run() -> String {
    let pid = parent_id().to_string();
    started(&pid).unwrap_or(pid)
}

/// The name of the run that this process is; none if there is no such process.
pub fn started(pid: &str) -> Option<String> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The 22nd field; the second is a name in parentheses, which may have spaces.
    let time = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{pid}-{time}"))
}
