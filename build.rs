//! Tells the program which commit it is made of, where git knows.
//!
//! Of sources from an archive of git's, as sdists are, the file `COMMIT` says it, and of others
//! `ROCKPACK_COMMIT`. Without all three the version names none, so that equal sources still give
//! equal programs.

use std::path::Path;
use std::process::Command;

/// What the program is made of: another README makes no other program.
const SOURCES: [&str; 7] =
    ["src", "runtime", "packages.kdl", "families.kdl", "Cargo.toml", "Cargo.lock", "build.rs"];

/// Where `git archive` writes the commit that it packs (.gitattributes); in a checkout it has a pattern.
const ARCHIVED: &str = "COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed=ROCKPACK_COMMIT");
    for source in SOURCES.iter().chain([&ARCHIVED]) {
        println!("cargo::rerun-if-changed={source}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let told = std::env::var("ROCKPACK_COMMIT").ok().map(|commit| commit.trim().to_owned());
    let commit = told.filter(|commit| !commit.is_empty()).or_else(of_git).or_else(of_archive);
    let version = commit.map_or_else(|| version.to_owned(), |c| format!("{version} ({c})"));
    println!("cargo::rustc-env=ROCKPACK_VERSION={version}");
}

/// The commit that is checked out here, marked when the sources are not as it has them.
fn of_git() -> Option<String> {
    // A tarball that is unpacked in somebody's repository is not of that.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    // Every commit and checkout is a line of this file; were it missing, cargo would ask each time. In
    // development what a program was made of is said truly too when it is not made again for a commit.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() && std::env::var("PROFILE").is_ok_and(|name| name != "debug") {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(if changed.is_empty() { commit } else { format!("{commit}, changed") })
}

/// The commit that git packed, as short as git prints it for a checkout.
fn of_archive() -> Option<String> {
    let text = std::fs::read_to_string(ARCHIVED).ok()?;
    let commit = text.trim();
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    commit.get(..12).map(str::to_owned)
}

/// What git prints; `None` where there is no git, or it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
