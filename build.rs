//! Embeds the commit hash in programs that are built for release, if built from a git checkout.
//!
//! Without git, the hash comes from the file `COMMIT` (written by `git archive`) or the variable
//! `ROCKPACK_COMMIT`. Without all three the version names no commit, so that equal sources still
//! give equal programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

/// What the program is made of: another README makes no other program.
const SOURCES: [&str; 9] = [
    "src",
    "crates",
    "runtime",
    "packages.kdl",
    "families.kdl",
    "manifest",
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
];

/// Where `git archive` writes the commit that it packs (.gitattributes); in a checkout it has a
/// pattern.
const ARCHIVED: &str = "COMMIT";

/// The mark of a commit whose checkout has other sources.
const CHANGED: &str = ", changed";

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    if std::env::var("PROFILE").is_ok_and(|name| name == "debug") {
        // While the sources change with each compilation, a stamp would only make all of them
        // slower.
        println!("cargo::rustc-env=ROCKPACK_SOURCE=sources debug");
        println!("cargo::rustc-env=ROCKPACK_VERSION={version}");
        println!("cargo::rerun-if-changed=build.rs");
        return;
    }
    println!("cargo::rerun-if-env-changed=ROCKPACK_COMMIT");
    for source in SOURCES.iter().chain([&ARCHIVED]) {
        println!("cargo::rerun-if-changed={source}");
    }
    let told = std::env::var("ROCKPACK_COMMIT").ok().map(|commit| commit.trim().to_owned());
    let commit = told.filter(|commit| !commit.is_empty()).or_else(of_git).or_else(of_archive);
    println!("cargo::rustc-env=ROCKPACK_SOURCE={}", source(commit.as_deref()));
    let version = commit.map_or_else(|| version.to_owned(), |c| format!("{version} ({c})"));
    println!("cargo::rustc-env=ROCKPACK_VERSION={version}");
}

/// The name of the sources that provenance records: `commit` and its first 12 digits, else
/// `sources` and a digest.
///
/// Without a commit, and with a changed checkout, equal names must still mean equal sources.
fn source(commit: Option<&str>) -> String {
    match commit {
        Some(commit) if !commit.ends_with(CHANGED) => {
            format!("commit {}", commit.get(..12).unwrap_or(commit))
        }
        _ => format!("sources {}", digest()),
    }
}

/// The SHA-256 over path, length and content of each source file.
fn digest() -> String {
    let mut files: Vec<PathBuf> = Vec::new();
    for source in SOURCES {
        collect(Path::new(source), &mut files);
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let content = std::fs::read(&file).unwrap_or_default();
        hasher.update(file.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update((content.len() as u64).to_le_bytes());
        hasher.update(&content);
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adds the files at and below a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        if path.is_file() {
            files.push(path.to_owned());
        }
        return;
    };
    for entry in entries.flatten() {
        collect(&entry.path(), files);
    }
}

/// The commit that is checked out here, marked when the sources are not as it has them.
fn of_git() -> Option<String> {
    // A tarball that is unpacked in somebody's repository is not of that.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    // Every commit and checkout is a line of this file; were it missing, cargo would ask each time.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(if changed.is_empty() { commit } else { format!("{commit}{CHANGED}") })
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
