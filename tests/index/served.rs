//! pip and uv with an index behind Python's web server, as docs/packages.md says.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ::index::simple::{self, Layout};
use fs_err as fs;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::installers::{
    PIP_INSTALL, UV_INSTALL, index_with_versions, install, install_with_each, pip, run, uv,
};
use super::{copy, demo};
use workbench::skips::has;

/// `python3 -m http.server` of a directory, on a free port.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(dir: &Path) -> Option<Self> {
        if !has("python3", "indexes behind a web server") {
            return None;
        }
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory"])
            .arg(dir)
            .arg("0")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(['(', ')']).nth(1).unwrap_or_else(|| panic!("no URL: {line}"));
        Some(Self { child, url: url.to_owned() })
    }

    /// Ends it, and returns the logged requests as `GET STATUS PATH`. A shell's background jobs
    /// ignore Ctrl-C.
    fn end(mut self) -> Vec<String> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        self.child.wait().unwrap();
        log.lines().filter_map(request).collect()
    }
}

/// Parses a line `ADDRESS - - [TIME] "GET PATH HTTP/1.1" STATUS SIZE`.
fn request(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('"')?;
    let (request, answer) = rest.split_once('"')?;
    let mut words = request.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    Some(format!("{method} {} {path}", answer.split_whitespace().next()?))
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has already ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn from_the_server() {
    let dir = index_with_versions(Layout::Simple);
    let Some(server) = Serving::start(dir.path()) else { return };
    install_with_each(&["--index-url", &format!("{}simple/", server.url)]);
    let log = server.end();
    assert!(log.iter().all(|line| line.starts_with("GET 200 ")), "{log:?}");
    let dir = index_with_versions(Layout::Flat);
    let Some(server) = Serving::start(dir.path()) else { return };
    install_with_each(&["--no-index", "--find-links", &server.url]);
    server.end();
}

#[test]
fn pip_reads_metadata_before_any_wheel() {
    let Some(pip) = pip() else { return };
    let dir = index_with_versions(Layout::Simple);
    let Some(server) = Serving::start(dir.path()) else { return };
    install(pip, &PIP_INSTALL, &["--index-url", &format!("{}simple/", server.url)]);
    let log = server.end();
    let ends = |end: &str| {
        log.iter()
            .enumerate()
            .filter(|(_, line)| line.ends_with(end))
            .map(|(index, _)| index)
            .collect::<Vec<_>>()
    };
    let (metadata, wheels) = (ends(".whl.metadata"), ends(".whl"));
    assert_eq!((metadata.len(), wheels.len()), (2, 2), "{log:?}");
    assert!(metadata.iter().max() < wheels.iter().min(), "it resolves first: {log:?}");
}

#[test]
fn resolving_reads_no_byte_of_a_wheel() {
    let Some(uv) = uv() else { return };
    let dir = index_with_versions(Layout::Simple);
    let Some(server) = Serving::start(dir.path()) else { return };
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("in.txt"), "app\n").unwrap();
    let input = directory.path().join("in.txt");
    let resolved = run(
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
    assert_eq!(resolved, "app==1.0+local\nlib==1.10\n");
    let log = server.end();
    assert!(log.iter().any(|line| line.ends_with(".whl.metadata")), "{log:?}");
    assert!(
        log.iter().all(|line| line.ends_with('/') || line.ends_with(".whl.metadata")),
        "{log:?}"
    );
}

#[cfg(feature = "stores")]
#[test]
fn a_second_mirror_of_an_unchanged_index_transfers_no_page() {
    let dir = index_with_versions(Layout::Simple);
    let work = TempDir::new().unwrap();
    let mut log = Vec::new();
    let Some(server) = Serving::start(dir.path()) else { return };
    for _ in 0..2 {
        let source = format!("{}simple/", server.url);
        let args = ["index", "mirror", &source, "pages", "--public", "https://example.com/whl/"];
        let mut mirror = std::process::Command::new(crate::program::PROGRAM);
        mirror.args(args).current_dir(work.path()).env_remove("ROCKPACK_NO_CACHE");
        let output = mirror.env("ROCKPACK_CACHE_DIR", work.path().join("cache")).output().unwrap();
        assert!(output.status.success(), "{}", crate::program::stderr(&output));
    }
    log.extend(server.end());
    let count = |status: &str| log.iter().filter(|line| line.starts_with(status)).count();
    let (transferred, unchanged) = (count("GET 200 "), count("GET 304 "));
    assert!(transferred > 0 && transferred == unchanged, "{log:?}");
    fs::remove_dir_all(work.path().join("pages")).unwrap();
}

#[test]
fn the_demo_packages() {
    let dir = TempDir::new().unwrap();
    copy(&demo("any"), dir.path());
    simple::write(dir.path(), Layout::Simple, None).unwrap();
    let Some(server) = Serving::start(dir.path()) else { return };
    let index = format!("{}simple/", server.url);
    for (command, args) in [(pip(), &PIP_INSTALL[..]), (uv(), &UV_INSTALL)] {
        let Some(command) = command else { continue };
        let target = TempDir::new().unwrap();
        let into = ["--target", target.path().to_str().unwrap(), "--index-url", &index];
        run(command, &[args, &into, &["rocm-sdk-core", "rocm-sdk-libraries"]].concat());
        assert!(
            target.path().join("_rocm_sdk_core/lib").is_dir()
                && target.path().join("_rocm_sdk_libraries/lib").is_dir()
        );
    }
    server.end();
}
