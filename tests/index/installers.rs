//! pip and uv with an index, served and as files.

use std::path::Path;
use std::process::Command;

use ::index::simple::{self, Layout};
use fs_err as fs;
use tempfile::TempDir;

use super::packages::{sdist, wheel};
use super::{program, text};

pub const PIP_INSTALL: [&str; 2] = ["install", "--no-cache-dir"];
pub const UV_INSTALL: [&str; 3] = ["pip", "install", "--no-cache"];

/// Runs an installer that ignores the user's configuration.
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

/// Makes an index of `app` and several versions of its requirement `lib`. The sdist has the older
/// version: installers must choose the newer wheel. Version 2.0 is yanked, only in a simple index,
/// because uv ignores yanks on flat pages.
pub fn index_with_versions(layout: Layout) -> TempDir {
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

/// Installs `app` from the index of the options `from`, and checks the installed versions.
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

/// Tries every available installer.
pub fn install_with_each(from: &[&str]) {
    if let Some(pip) = pip() {
        install(pip, &PIP_INSTALL, from);
    }
    if let Some(uv) = uv() {
        install(uv, &UV_INSTALL, from);
    }
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn pip_and_uv_install_from_file_urls() {
    let dir = index_with_versions(Layout::Simple);
    install_with_each(&["--index-url", &file_url(&dir.path().join("simple/"))]);
    let dir = index_with_versions(Layout::Flat);
    install_with_each(&["--no-index", "--find-links", &file_url(&dir.path().join("index.html"))]);
}
