//! Programs of the machine, run by tests.

use std::process::{Command, Output};

/// Runs a command in a locale with known messages.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    command.env("LC_ALL", "C").output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
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
