//! The program, and what it prints.

use std::path::Path;
use std::process::{Command, Output};

/// Where it is.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rockpack");
/// What this machine may have set, and no test wants.
const VARIABLES: [&str; 4] =
    ["GITHUB_WORKSPACE", "ROCKPACK_MANIFEST", "ROCM_SDK_WHEEL_PLATFORM_TAG", "SOURCE_DATE_EPOCH"];

/// The program with these arguments in a directory, without colours.
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

/// The same without a cache; where the directory has no manifest, the built-in one is meant.
pub fn uncached(dir: &Path, args: &[&str]) -> Command {
    let mut command = command(dir, args);
    command.env("ROCKPACK_NO_CACHE", "1");
    if !dir.join("packages.kdl").exists() {
        command.env("ROCKPACK_MANIFEST", "built-in");
    }
    command
}

/// What comes of these arguments.
pub fn rockpack(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// The same in a minute: one that waits for somebody ends with status 124.
pub fn in_a_minute(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", PROGRAM]);
    of(command, dir, args).output().unwrap()
}

/// What is printed by a command that has to do well.
pub fn done(dir: &Path, args: &[&str]) -> String {
    printed(args, rockpack(dir, args))
}

/// The same of what came of it.
pub fn printed(args: &[&str], output: Output) -> String {
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What was printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is told to people, without line breaks, which depend on its width.
pub fn said(output: &Output) -> String {
    let text = text(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
