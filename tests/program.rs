//! The program and its output.

use std::path::Path;
use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rockpack");
/// Variables that a machine may set and tests must not see.
const VARIABLES: [&str; 7] = [
    "GITHUB_WORKSPACE",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "ROCKPACK_MANIFEST",
    "ROCM_SDK_WHEEL_PLATFORM_TAG",
    "SOURCE_DATE_EPOCH",
];

/// Returns the program with these arguments in a directory, without colours.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    of(Command::new(PROGRAM), dir, args)
}

fn of(mut command: Command, dir: &Path, args: &[&str]) -> Command {
    command.args(args).current_dir(dir).env("NO_COLOR", "1");
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

/// Returns the program without a cache; in a directory without a manifest it uses the built-in one.
pub fn uncached(dir: &Path, args: &[&str]) -> Command {
    let mut command = command(dir, args);
    command.env("ROCKPACK_NO_CACHE", "1");
    if !dir.join("packages.kdl").exists() {
        command.env("ROCKPACK_MANIFEST", "built-in");
    }
    command
}

/// Runs the program.
pub fn rockpack(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// Runs the program with a timeout of a minute, which gives status 124.
pub fn in_a_minute(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", PROGRAM]);
    of(command, dir, args).output().unwrap()
}

/// Returns the output of a successful command.
pub fn done(dir: &Path, args: &[&str]) -> String {
    printed(args, rockpack(dir, args))
}

/// Returns the output, after checking for success.
pub fn printed(args: &[&str], output: Output) -> String {
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the messages for people without line breaks, which depend on the width.
pub fn said(output: &Output) -> String {
    let text = text(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
