//! A second index of one build: the same packages, except a selector with more requirements.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use ::index::simple::{self, Layout};
use base::names::RelPath;
use base::regular::sha256;
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::installers::{PIP_INSTALL, UV_INSTALL, pip, run, uv};
use super::{rockpack, succeed, text};
use crate::program::{self, Run};

const MANIFEST: &str = "include \"built-in\"
change \"package\" \"meta\" {
    index \"whl\" mode=\"kpack\" {
        requires \"device\" offer=\"all\"
    }
}
";
const SELECTOR: &str = "rocm-7.2.0.tar.gz";

/// Builds packages of the demo in `out`, with these additional lines in the manifest.
pub fn built(lines: &str) -> TempDir {
    let dir = crate::demo_tree::scratch(true);
    fs::write(dir.path().join("packages.kdl"), format!("{MANIFEST}{lines}")).unwrap();
    fs::write(dir.path().join("families.kdl"), "include \"built-in\"\n").unwrap();
    program::build(dir.path(), "out").args(["--version", "7.2.0"]).succeed();
    dir
}

/// Returns hashes by file name of the index at `root`. Checks that each file is at the place named
/// by its page.
fn listed(root: &Path) -> BTreeMap<String, String> {
    let json = |path: &Path| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let mut listed = BTreeMap::new();
    for project in json(&root.join("index.json"))["projects"].as_array().unwrap() {
        let place = root.join(project["name"].as_str().unwrap());
        for file in json(&place.join("index.json"))["files"].as_array().unwrap() {
            let (name, hash) = (file["filename"].as_str().unwrap(), &file["hashes"]["sha256"]);
            let actual = sha256(place.join(file["url"].as_str().unwrap())).unwrap();
            assert_eq!(*hash, actual, "{name}");
            assert_eq!(listed.insert(name.to_owned(), actual), None, "{name}");
        }
    }
    listed
}

/// Returns the lines of each member of an sdist.
fn members(path: &Path) -> BTreeMap<String, Vec<String>> {
    let mut archive =
        tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(path).unwrap()));
    let read = |entry: Result<tar::Entry<'_, _>, std::io::Error>| {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        Read::read_to_string(&mut entry, &mut text).unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        (path, text.lines().map(str::to_owned).collect())
    };
    archive.entries().unwrap().map(read).collect()
}

#[test]
fn both_indexes_differ_in_the_selector_alone() {
    let dir = built("");
    let dist = dir.path().join("out/dist");
    let verified = rockpack(dir.path(), &["wheel", "verify", "out/dist"]);
    assert!(verified.status.success(), "{}", text(&verified.stderr));
    assert!(text(&verified.stdout).contains("whl/rocm-7.2.0.tar.gz"), "{}", text(&verified.stdout));
    for record in ["SHA256SUMS", "provenance.intoto.json"] {
        let text = fs::read_to_string(dist.join(record)).unwrap();
        assert!(text.contains("whl/rocm-7.2.0.tar.gz"), "{record}: {text}");
    }

    let stdout = succeed(dir.path(), &["index", "write", "out/dist"]);
    assert!(
        stdout.ends_with("dist/simple/index.html\nout/dist/whl/simple/index.html\n"),
        "{stdout}"
    );
    let (first, second) = (listed(&dist.join("simple")), listed(&dist.join("whl/simple")));
    assert_eq!(first.len(), 8);
    assert!(first.keys().eq(second.keys()), "{first:?} {second:?}");
    let differ: Vec<&String> = first.keys().filter(|name| first[*name] != second[*name]).collect();
    assert_eq!(differ, [SELECTOR]);
    assert_eq!(
        succeed(dir.path(), &["index", "write", "out/dist"]).lines().next(),
        Some("9 files of 8 projects: 0 read, 0 pages written")
    );
}

#[test]
fn the_selectors_differ_only_in_requirements() {
    let dir = built("");
    let dist = dir.path().join("out/dist");
    let (first, second) =
        (members(&dist.join(SELECTOR)), members(&dist.join("whl").join(SELECTOR)));
    assert!(first.keys().eq(second.keys()));
    let mut more = BTreeMap::new();
    for (path, lines) in &first {
        let before: BTreeSet<&String> = lines.iter().collect();
        let removed = lines.iter().filter(|line| !second[path].contains(line)).count();
        assert!(removed <= 1, "but for a comma behind it, every line stays: {path}");
        let new: Vec<&str> = second[path]
            .iter()
            .filter(|line| !before.contains(line))
            .map(|line| line.trim())
            .collect();
        if !new.is_empty() {
            more.insert(path.as_str(), new);
        }
    }
    let requires = |isa: &str| format!("rocm-sdk-device-{isa}==7.2.0");
    let (first, second) = (requires("gfx942"), requires("gfx1100"));
    assert_eq!(
        more["rocm-7.2.0/PKG-INFO"],
        [format!("Requires-Dist: {first}"), format!("Requires-Dist: {second}")]
    );
    assert_eq!(
        more.keys().collect::<Vec<_>>(),
        [
            &"rocm-7.2.0/PKG-INFO",
            &"rocm-7.2.0/src/rocm.egg-info/PKG-INFO",
            &"rocm-7.2.0/src/rocm_sdk/_dist_info.py"
        ]
    );
    let facts = more["rocm-7.2.0/src/rocm_sdk/_dist_info.py"].join("\n");
    assert!(facts.contains("\"index\": \"whl\""), "{facts}");
}

/// Directories with separate pages: both indexes of each.
#[test]
fn flat_pages_and_runs_have_both_indexes() {
    let dir = built("");
    let dist = dir.path().join("out/dist");
    simple::write(&dist, Layout::Flat, None).unwrap();
    let links = |page: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(dist.join(page)).unwrap();
        let files =
            text.split("<a href=\"").skip(1).filter_map(|rest| rest.split(['#', '"']).next());
        files.filter(|link| link.contains("-7.2.0")).map(str::to_owned).collect()
    };
    let (main, further) = (links("index.html"), links("whl/index.html"));
    assert_eq!((main.len(), further.len()), (8, 8));
    assert!(main.contains(SELECTOR) && further.contains(SELECTOR), "{main:?} {further:?}");
    let relative = main.iter().filter(|link| *link != SELECTOR).map(|link| format!("../{link}"));
    assert!(relative.clone().all(|link| further.contains(&link)), "{further:?}");

    let runs = TempDir::new().unwrap();
    let python = runs.path().join("7-linux/python");
    fs::create_dir_all(&python).unwrap();
    fs::rename(&dist, python.join("all")).unwrap();
    let summary = simple::write(runs.path(), Layout::Run, None).unwrap();
    let entries: Vec<&str> = summary.entries.iter().map(RelPath::as_str).collect();
    for page in [
        "all/simple/index.html",
        "all/index.html",
        "all/whl/simple/index.html",
        "all/whl/index.html",
    ] {
        assert!(entries.contains(&&*format!("7-linux/python/{page}")), "{entries:?}");
    }
    assert_eq!(listed(&python.join("all/whl/simple")).len(), 8);
}

/// Installs the selector from an index, and returns the names of installed packages.
fn installed(command: std::process::Command, words: &[&str], root: &Path) -> BTreeSet<String> {
    let target = TempDir::new().unwrap();
    let url = format!("file://{}/", root.display());
    let place = target.path().to_str().unwrap();
    run(command, &[words, &["--target", place, "--index-url", &url, "rocm"]].concat());
    let entries = fs::read_dir(target.path()).unwrap();
    let names = entries.filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        Some(name.strip_suffix("-7.2.0.dist-info")?.to_owned())
    });
    names.collect()
}

#[test]
fn installers_get_all_devices_from_the_second_index_alone() {
    let dir = built("");
    let dist = dir.path().join("out/dist");
    simple::write(&dist, Layout::Simple, None).unwrap();
    let core = ["rocm", "rocm_sdk_core"];
    let every_device = [
        "rocm",
        "rocm_sdk_core",
        "rocm_sdk_device_gfx1100",
        "rocm_sdk_device_gfx942",
        "rocm_sdk_libraries",
    ];
    let tools = [(pip as fn() -> _, &PIP_INSTALL[..]), (uv, &UV_INSTALL[..])];
    for (tool, words) in tools {
        for (root, expected) in [("simple", &core[..]), ("whl/simple", &every_device[..])] {
            let Some(command) = tool() else { continue };
            let projects = installed(command, words, &dist.join(root));
            assert_eq!(
                projects.iter().map(String::as_str).collect::<Vec<_>>(),
                expected,
                "{words:?} {root}"
            );
        }
    }
}
