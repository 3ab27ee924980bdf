//! Programs of the machine, run by tests.

use std::io::ErrorKind;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// Runs a command in a locale with known messages.
///
/// A program that this test has just written can be busy: until its `exec`, the child of another
/// test's thread has the file open for writing (`ETXTBSY`). It is tried again for a second.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    command.env("LC_ALL", "C");
    let mut result = command.output();
    for _ in 0..100 {
        if !result.as_ref().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        result = command.output();
    }
    result.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Returns the standard output of a command.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout
}

/// Returns output as text; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
