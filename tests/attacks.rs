//! A project whose build attacks the results of other builds and the user's files: all attacks
//! fail, and the next build makes the same packages as before.
//!
//! `tests/projects/run --only hostile` runs the attacks in a build backend (PEP 517).

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Output;

use base::hash::Sha256;
use fs_err as fs;
use projects::{Holds, holds};
use walkdir::WalkDir;

use crate::demo_tree::scratch;
use crate::program::{command, text};
use workbench::skips::{has, skip};

/// Files of tools in a home directory, which users and other builds run or compile.
const USER_FILES: &[&str] = &[
    ".bashrc",
    ".cargo/bin/tool",
    ".cargo/config.toml",
    ".cargo/credentials.toml",
    ".cargo/git/db/repository/HEAD",
    ".cargo/registry/cache/index/crate-1.0.0.crate",
    ".cargo/registry/src/index/crate-1.0.0/src/lib.rs",
    ".ccache/result",
    ".cache/ccache/result",
    ".cache/pip/http-v2/body",
    ".cache/pip/wheels/tool-1.0-py3-none-any.whl",
    ".cache/pre-commit/hook",
    ".cache/sccache/result",
    ".cache/uv/archive-v0/tool.py",
    ".config/settings",
    ".local/bin/tool",
    ".local/lib/python3/site-packages/usercustomize.py",
];

/// Dummies of `build` and pip, which rockpack checks for and this project does not use.
const DUMMIES: [(&str, &str); 3] = [
    ("build/__init__.py", ""),
    ("build/__main__.py", ""),
    ("pip/__init__.py", "__version__ = '24.0'"),
];

fn build(dir: &Path, args: &[&str]) -> Output {
    let all = [&["build", "--artifact-dir", "artifacts"], args].concat();
    let mut command = command(dir, &all);
    command.env("HOME", dir.join("home")).env("PYTHONPATH", dir.join("dummies"));
    for name in [
        "XDG_CACHE_HOME",
        "ROCKPACK_NO_CACHE",
        "ROCKPACK_CACHE_SIZE",
        "ROCKPACK_CACHE_DIR",
        "CCACHE_DIR",
        "SCCACHE_DIR",
        "CARGO_HOME",
    ] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Returns the hashes of all files below directories.
fn hashes(directories: &[PathBuf]) -> BTreeMap<PathBuf, String> {
    let files = directories.iter().flat_map(WalkDir::new).map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|file| {
            let hash = Sha256::of(&fs::read(file.path()).unwrap()).to_string();
            (file.into_path(), hash)
        })
        .collect()
}

/// Returns the targets of attacks: each file, and each of its directories.
fn targets_json(files: &BTreeMap<PathBuf, String>, tcp: u16, abstract_name: &str) -> String {
    let mut directories: Vec<&Path> = files.keys().filter_map(|file| file.parent()).collect();
    // Sorted: a directory's files are not neighbours if it has directories between them.
    directories.sort_unstable();
    directories.dedup();
    let files: Vec<&PathBuf> = files.keys().collect();
    let network = fs::metadata("/proc/self/ns/net").unwrap().ino();
    serde_json::json!({
        "files": files,
        "directories": directories,
        "tcp": tcp,
        "abstract": abstract_name,
        "network": network,
    })
    .to_string()
}

/// Returns whether this kernel cannot prevent the attack.
fn beyond_the_kernel(name: &str) -> bool {
    let needed = match name {
        _ if name.contains("TCP") => Holds::Network,
        _ if name.contains("signal") || name.contains("abstract") => Holds::Signals,
        _ => Holds::Writing,
    };
    holds() < needed
}

#[test]
fn refuses_all_attacks_of_a_project_on_other_builds_and_the_user() {
    let what = "that builds of projects cannot touch other builds";
    if !has("python3", what) {
        return;
    }
    // With less enforcement, only the attacks that this kernel can prevent are judged.
    if holds() < Holds::Signals {
        skip(what, "Landlock of Linux 6.12, with signals and sockets");
    }
    if holds() == Holds::Nothing {
        return;
    }
    let scratch = scratch(true);
    let dir = scratch.path().canonicalize().unwrap();
    for name in USER_FILES {
        write(&dir.join("home").join(name), name);
    }
    for (name, content) in DUMMIES {
        write(&dir.join("dummies").join(name), content);
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attack/attack.py");
    write(&dir.join("sources/attack/attack.py"), &fs::read_to_string(fixture).unwrap());
    let targets = dir.join("targets.json");
    write(&dir.join("families.kdl"), "include \"built-in\"\n");
    write(
        &dir.join("packages.kdl"),
        &format!(
            "include \"built-in\"\nnative-project \"example-attack\" {{\n    source \"attack\"\n    \
             env \"ATTACKED\" \"{}\"\n    run \"{{python}}\" \"attack.py\" \"{{prefix}}\"\n}}\n",
            targets.display()
        ),
    );

    let first = build(&dir, &["-o", "victim"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let packages = hashes(&[dir.join("victim/dist")]);
    let shared = |path: &PathBuf| fs::metadata(path).unwrap().nlink() != 1;
    assert_eq!(
        packages.keys().find(|path| shared(path)),
        None,
        "a hard link outside can change it"
    );

    let before = hashes(&[dir.join("home"), dir.join("victim"), dir.join("sources")]);
    assert!(before.keys().any(|path| path.extension().is_some_and(|e| e == "seg")), "no cache");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = format!("rockpack-attacks-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    write(&targets, &targets_json(&before, listener.local_addr().unwrap().port(), &name));
    let args = ["-o", "attacked", "--sources", "sources", "--only", "example-attack"];
    let output = build(&dir, &args);
    let log = fs::read_to_string(dir.join("attacked/logs/example-attack.log")).unwrap_or_default();
    assert!(output.status.success(), "{}\n{log}", text(&output.stderr));

    let succeeded: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("DONE: ")).collect();
    let unexpected: Vec<_> = succeeded.iter().filter(|name| !beyond_the_kernel(name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let failed: Vec<&str> = log.lines().filter(|line| line.starts_with("failed: ")).collect();
    assert!(failed.is_empty(), "no wall refused these: {failed:#?}");
    // attack.py attacks each file in five ways, and more than the files: fewer lines mean that it
    // stopped early.
    let refused = log.lines().filter(|line| line.starts_with("refused: ")).count();
    assert!(refused + succeeded.len() > 5 * before.len(), "{refused} attempts:\n{log}");
    assert_eq!(hashes(&[dir.join("home"), dir.join("victim"), dir.join("sources")]), before);

    // The next build takes everything from the cache, and makes the same packages.
    let again = build(&dir, &["-o", "again"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    let names = |all: BTreeMap<PathBuf, String>| -> BTreeMap<_, _> {
        all.into_iter().map(|(path, hash)| (path.file_name().unwrap().to_owned(), hash)).collect()
    };
    assert_eq!(names(hashes(&[dir.join("again/dist")])), names(packages));
}
