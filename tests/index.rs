//! Publication of finished packages: other tags, indexes, and installation by pip and uv.
//! Missing installers are skipped, and listed after all tests.
//!
//! `./tasks accept index` rewrites the pages in `tests/fixtures/index`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use fs_err as fs;
use tempfile::TempDir;

use crate::program::{rockpack, succeed, text};

#[path = "index/atomic.rs"]
mod atomic;
#[path = "index/installers.rs"]
mod installers;
#[path = "index/packages.rs"]
pub mod packages;
#[path = "index/pages.rs"]
mod pages;
#[path = "index/repack.rs"]
mod repack;
#[path = "index/retag.rs"]
mod retag;
#[path = "index/second.rs"]
pub mod second;
#[path = "index/served.rs"]
mod served;
#[path = "index/update.rs"]
mod update;

/// Returns a program of this machine, if it starts.
fn program(name: &str, args: &[&str]) -> Option<Command> {
    let mut command = Command::new(name);
    command.args(args);
    let starts = Command::new(name)
        .args(args)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !starts {
        workbench::skips::skip(
            "indexes as installers use them",
            [&[name], args].concat().join(" ").trim_end(),
        );
    }
    starts.then_some(command)
}

/// Returns the demo's packages with this tag, built once.
pub fn demo(tag: &str) -> PathBuf {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    let dir = BUILT.get_or_init(|| {
        let dir = crate::demo_tree::scratch(true);
        for tag in TAGS {
            let args = ["build", "--artifact-dir", "artifacts", "-o", tag, "--platform-tag", tag];
            // The tag `any` is of no binary.
            let allowed: &[&str] = if tag == "any" { &["--allow", "wrong-platform"] } else { &[] };
            succeed(dir.path(), &[&args[..], allowed].concat());
        }
        dir
    });
    dir.path().join(tag).join("dist")
}

const TAGS: [&str; 3] = ["linux_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64", "any"];

/// Copies a directory of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
