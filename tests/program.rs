//! The program, its runs and their output: the builder is the standard library's [`Command`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base::regular::sha256;

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
    prepare(Command::new(PROGRAM), dir, args)
}

fn prepare(mut command: Command, dir: &Path, args: &[&str]) -> Command {
    command.args(args).current_dir(dir).env("NO_COLOR", "1").env("ROCKPACK_NO_CACHE", "1");
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

/// Returns a build of the directory `artifacts` (`demo_tree`). Names of its packages are the same on every machine.
pub fn build(dir: &Path, dest: &str) -> Command {
    let plain = ["build", "--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"];
    command(dir, &[&plain[..], &["-o", dest]].concat())
}

/// Returns the program without a cache; in a directory without a manifest it uses the built-in one, without a warning.
pub fn uncached(dir: &Path, args: &[&str]) -> Command {
    let mut command = command(dir, args);
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
    prepare(command, dir, args).output().unwrap()
}

/// Returns the output of a successful command.
#[track_caller]
pub fn succeed(dir: &Path, args: &[&str]) -> String {
    command(dir, args).succeed()
}

/// Checked runs of a command.
pub trait Run {
    /// Returns the output of a successful run.
    fn succeed(&mut self) -> String;

    /// Returns the messages of a run that fails with this status, and prints nothing else.
    fn fail(&mut self, status: i32) -> String;
}

impl Run for Command {
    #[track_caller]
    fn succeed(&mut self) -> String {
        let output = self.output().unwrap();
        assert!(output.status.success(), "{self:?}: {}", text(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn fail(&mut self, status: i32) -> String {
        let output = self.output().unwrap();
        let messages = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{self:?}: {messages}");
        assert!(output.stdout.is_empty(), "{self:?}: {}", text(&output.stdout));
        messages
    }
}

/// Returns the hash of every file below a directory, by its path there.
pub fn contents(dir: &Path) -> BTreeMap<PathBuf, String> {
    let files = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let path = |entry: &walkdir::DirEntry| entry.path().strip_prefix(dir).unwrap().to_owned();
    files.map(|entry| (path(&entry), sha256(entry.path()).unwrap())).collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the messages for people without line breaks, which depend on the width.
pub fn stderr(output: &Output) -> String {
    let text = text(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
