//! pip and uv on an index, served and as files.

use std::path::Path;
use std::process::Command;

use fs_err as fs;
use rockpack::index::{self, Layout};
use tempfile::TempDir;

use super::packages::{sdist, wheel};
use super::server::Serving;
use super::{copy, demo, program, text};

/// Runs an installer with no configuration but what it is given.
fn run(mut command: Command, args: &[&str]) -> String {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PIP_") || name.starts_with("UV_")) {
        command.env_remove(name);
    }
    command.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("UV_NO_CONFIG", "1");
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn pip() -> Option<Command> {
    program("python3", &["-m", "pip"])
}

fn uv() -> Option<Command> {
    program("uv", &[])
}

/// An index of `app`, which needs `lib`, which is there in several versions, in a simple index with one
/// that is yanked: uv does not look whether files on flat pages are.
fn indexed(layout: Layout) -> TempDir {
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
    index::write(dir.path(), layout, None).unwrap();
    dir
}

/// Installs `app` with these options and checks what came.
fn install(command: Command, args: &[&str], from: &[&str]) {
    let target = TempDir::new().unwrap();
    run(command, &[args, &["--target", target.path().to_str().unwrap()], from, &["app"]].concat());
    assert_eq!(fs::read_to_string(target.path().join("lib.py")).unwrap(), "VERSION = \"1.10\"\n", "the newest that is not yanked");
    assert_eq!(fs::read_to_string(target.path().join("app.py")).unwrap(), "VERSION = \"1.0+local\"\n");
}

const PIP: [&str; 2] = ["install", "--no-cache-dir"];
const UV: [&str; 3] = ["pip", "install", "--no-cache"];

/// With whichever installer there is.
fn install_with_each(from: &[&str]) {
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

#[test]
fn from_the_server() {
    let dir = indexed(Layout::Simple);
    let server = Serving::start(dir.path());
    install_with_each(&["--index-url", &format!("{}simple/", server.url)]);
    let log = server.end();
    assert!(log.iter().all(|line| line.starts_with("GET 200 ")), "{log:?}");
    let dir = indexed(Layout::Flat);
    let server = Serving::start(dir.path());
    install_with_each(&["--no-index", "--find-links", &server.url]);
    server.end();
}

#[test]
fn pip_is_given_json_and_reads_metadata_before_any_wheel() {
    let Some(pip) = pip() else { return };
    let dir = indexed(Layout::Simple);
    let server = Serving::start(dir.path());
    install(pip, &PIP, &["--index-url", &format!("{}simple/", server.url)]);
    let log = server.end();
    let json = fs::metadata(dir.path().join("simple/app/index.json")).unwrap().len();
    assert!(log.contains(&format!("GET 200 {json} /simple/app/")), "{log:?}");
    let ends = |end: &str| log.iter().enumerate().filter(|(_, line)| line.ends_with(end)).map(|(at, _)| at).collect::<Vec<_>>();
    let (metadata, wheels) = (ends(".whl.metadata"), ends(".whl"));
    assert_eq!((metadata.len(), wheels.len()), (2, 2), "{log:?}");
    assert!(metadata.iter().max() < wheels.iter().min(), "it resolves first: {log:?}");
}

#[test]
fn resolving_reads_no_byte_of_a_wheel() {
    let Some(uv) = uv() else { return };
    let dir = indexed(Layout::Simple);
    let server = Serving::start(dir.path());
    let wanted = TempDir::new().unwrap();
    fs::write(wanted.path().join("in.txt"), "app\n").unwrap();
    let input = wanted.path().join("in.txt");
    let found = run(
        uv,
        &[
            "pip",
            "compile",
            "--quiet",
            "--no-cache",
            "--no-header",
            "--no-annotate",
            "--index-url",
            &format!("{}simple/", server.url),
            input.to_str().unwrap(),
        ],
    );
    assert_eq!(found, "app==1.0+local\nlib==1.10\n");
    let log = server.end();
    assert!(log.iter().any(|line| line.ends_with(".whl.metadata")), "{log:?}");
    assert!(log.iter().all(|line| line.ends_with('/') || line.ends_with(".whl.metadata")), "{log:?}");
}

#[test]
fn the_demo_packages() {
    let dir = TempDir::new().unwrap();
    copy(&demo("any"), dir.path());
    index::write(dir.path(), Layout::Simple, None).unwrap();
    let server = Serving::start(dir.path());
    let index = format!("{}simple/", server.url);
    for (command, args) in [(pip(), &PIP[..]), (uv(), &UV)] {
        let Some(command) = command else { continue };
        let target = TempDir::new().unwrap();
        let into = ["--target", target.path().to_str().unwrap(), "--index-url", &index];
        run(command, &[args, &into, &["rocm-sdk-core", "rocm-sdk-libraries"]].concat());
        assert!(target.path().join("_rocm_sdk_core/lib").is_dir() && target.path().join("_rocm_sdk_libraries/lib").is_dir());
    }
    server.end();
}
