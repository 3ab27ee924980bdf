//! pip and uv with an index, served and as files.

use std::path::Path;
use std::process::Command;

use ::index::simple::{self, Layout};
use fs_err as fs;
use tempfile::TempDir;

use super::packages::{sdist, wheel};
use super::{program, text};

/// Runs an installer without configuration of the machine.
pub fn run(mut command: Command, args: &[&str]) -> String {
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("PIP_") || name.starts_with("UV_"))
    {
        command.env_remove(name);
    }
    command
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("UV_NO_CONFIG", "1");
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

pub fn pip() -> Option<Command> {
    program("python3", &["-m", "pip"])
}

pub fn uv() -> Option<Command> {
    program("uv", &[])
}

/// Makes an index of `app` and several versions of its requirement `lib`. In a simple index one
/// version is yanked; uv ignores yanks on flat pages.
pub fn indexed(layout: Layout) -> TempDir {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "app", "1.0+local", &["lib"]);
    for version in ["1.9", "1.10"] {
        wheel(dir.path(), "lib", version, &[]);
    }
    if layout == Layout::Simple {
        wheel(dir.path(), "lib", "2.0", &[]);
        fs::write(dir.path().join("lib-2.0-py3-none-any.whl.yanked"), "does not work").unwrap();
    }
    sdist(dir.path(), "lib", "1.9");
    simple::write(dir.path(), layout, None).unwrap();
    dir
}

/// Installs `app` with these options and checks the result.
pub fn install(command: Command, args: &[&str], from: &[&str]) {
    let target = TempDir::new().unwrap();
    run(command, &[args, &["--target", target.path().to_str().unwrap()], from, &["app"]].concat());
    assert_eq!(
        fs::read_to_string(target.path().join("lib.py")).unwrap(),
        "VERSION = \"1.10\"\n",
        "the newest that is not yanked"
    );
    assert_eq!(
        fs::read_to_string(target.path().join("app.py")).unwrap(),
        "VERSION = \"1.0+local\"\n"
    );
}

pub const PIP: [&str; 2] = ["install", "--no-cache-dir"];
pub const UV: [&str; 3] = ["pip", "install", "--no-cache"];

/// Tries every available installer.
pub fn install_with_each(from: &[&str]) {
    if let Some(pip) = pip() {
        install(pip, &PIP, from);
    }
    if let Some(uv) = uv() {
        install(uv, &UV, from);
    }
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn from_files() {
    let dir = indexed(Layout::Simple);
    install_with_each(&["--index-url", &file_url(&dir.path().join("simple/"))]);
    let dir = indexed(Layout::Flat);
    install_with_each(&["--no-index", "--find-links", &file_url(&dir.path().join("index.html"))]);
}
