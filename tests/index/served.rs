//! pip and uv with an index from `rockpack index serve`.

use ::index::simple::{self, Layout};
use fs_err as fs;
use tempfile::TempDir;

use super::installers::{PIP, UV, indexed, install, install_with_each, pip, run, uv};
use super::server::Serving;
use super::{copy, demo};

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
    let ends = |end: &str| {
        log.iter()
            .enumerate()
            .filter(|(_, line)| line.ends_with(end))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
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
    assert!(
        log.iter().all(|line| line.ends_with('/') || line.ends_with(".whl.metadata")),
        "{log:?}"
    );
}

#[cfg(feature = "stores")]
#[test]
fn a_second_mirror_of_an_unchanged_index_transfers_no_page() {
    let dir = indexed(Layout::Simple);
    let work = TempDir::new().unwrap();
    let mut log = Vec::new();
    let server = Serving::start(dir.path());
    for _ in 0..2 {
        let source = format!("{}simple/", server.url);
        let args = ["index", "mirror", &source, "pages", "--public", "https://example.com/whl/"];
        let mut mirror = std::process::Command::new(crate::program::PROGRAM);
        mirror.args(args).current_dir(work.path()).env_remove("ROCKPACK_NO_CACHE");
        let output = mirror.env("ROCKPACK_CACHE_DIR", work.path().join("cache")).output().unwrap();
        assert!(output.status.success(), "{}", crate::program::said(&output));
    }
    log.extend(server.end());
    let of = |status: &str| log.iter().filter(|line| line.starts_with(status)).count();
    let (transferred, unchanged) = (of("GET 200 "), of("GET 304 0 "));
    assert!(transferred > 0 && transferred == unchanged, "{log:?}");
    fs::remove_dir_all(work.path().join("pages")).unwrap();
}

#[test]
fn the_demo_packages() {
    let dir = TempDir::new().unwrap();
    copy(&demo("any"), dir.path());
    simple::write(dir.path(), Layout::Simple, None).unwrap();
    let server = Serving::start(dir.path());
    let index = format!("{}simple/", server.url);
    for (command, args) in [(pip(), &PIP[..]), (uv(), &UV)] {
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
