//! Pages of every layout.

use std::fmt::Write as _;
use std::path::Path;

use ::index::simple::{self, Layout};
use fs_err as fs;
use tempfile::TempDir;
use walkdir::WalkDir;

use super::packages::{TIME, sdist, wheel};
use super::{copy, demo};

/// Returns every page and metadata file below `dir`, sorted by path.
pub fn page_texts(dir: &Path) -> String {
    let mut out = String::new();
    for entry in WalkDir::new(dir).sort_by_file_name() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap();
        if entry.file_type().is_file()
            && [".html", ".json", ".metadata"].iter().any(|end| name.ends_with(end))
            && !name.starts_with('.')
        {
            let path = entry.path().strip_prefix(dir).unwrap().display().to_string();
            writeln!(out, "==> {path}\n{}", fs::read_to_string(entry.path()).unwrap()).unwrap();
        }
    }
    out
}

fn compare(name: &str, actual: &str) {
    workbench::expected::compare(&format!("tests/fixtures/index/{name}"), actual);
}

/// Writes versions out of order, a local version, an sdist, a name to normalize, and yanked files,
/// one with a reason and directory to escape.
fn odd(dir: &Path) {
    for version in ["1.10", "1.9", "1.9rc1", "1.9+local.1"] {
        wheel(&dir.join("a"), "Some.Project", version, &[]);
    }
    sdist(&dir.join("a"), "Some.Project", "1.10");
    let second =
        wheel(&dir.join("b & \"c\" <é>"), "other", "2!1.0", &["some-project<2; extra == \"x\""]);
    fs::write(format!("{}.yanked", second.display()), "wrong \"bits\"\n & <worse>\n").unwrap();
    let yanked = wheel(&dir.join("a"), "other", "1.0", &[]);
    fs::write(format!("{}.yanked", yanked.display()), "").unwrap();
}

#[test]
fn pages_of_a_simple_index() {
    let dir = TempDir::new().unwrap();
    odd(dir.path());
    let summary = simple::write(dir.path(), Layout::Simple, None).unwrap();
    assert_eq!((summary.packages, summary.projects, summary.read, summary.pages), (7, 2, 7, 7));
    assert_eq!(summary.entries, ["simple/index.html".parse().unwrap()]);
    compare("simple.txt", &page_texts(dir.path()));
}

#[test]
fn pages_of_a_flat_index() {
    let dir = TempDir::new().unwrap();
    odd(dir.path());
    wheel(dir.path(), "top", "1", &[]);
    simple::write(dir.path(), Layout::Flat, None).unwrap();
    compare("flat.txt", &page_texts(dir.path()));
}

#[test]
fn pages_of_runs() {
    let dir = TempDir::new().unwrap();
    for group in ["11-linux/python/g1", "11-linux/python/g2", "9-windows/python"] {
        // Groups are independent: each has a file of the same name.
        wheel(&dir.path().join(group), "one", "1.0", &[&format!("dep-{}", group.len())]);
    }
    wheel(&dir.path().join("11-linux/python/g2"), "one", "1.1", &["other"]);
    simple::write(dir.path(), Layout::Run, Some(TIME.parse().unwrap())).unwrap();
    compare("run.txt", &page_texts(dir.path()));
}

#[test]
fn pages_of_the_demo_packages_are_the_same_every_time() {
    let index = || {
        let dir = TempDir::new().unwrap();
        copy(&demo("linux_x86_64"), dir.path());
        simple::write(dir.path(), Layout::Simple, None).unwrap();
        page_texts(dir.path())
    };
    let pages = index();
    assert_eq!(pages, index());
    // Each change of a package changes its hash and size, which do not matter here.
    let hexadecimal = |part: &str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let mut masked = String::new();
    for part in pages.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        masked += &if hexadecimal(word) { part.replace(word, "HASH") } else { part.to_owned() };
    }
    let sizes: Vec<&str> = masked.split("\"size\":").collect();
    let unsized_part = |part: &&str| {
        format!("\"size\":SIZE{}", part.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    compare(
        "demo.txt",
        &(sizes[0].to_owned() + &sizes[1..].iter().map(unsized_part).collect::<String>()),
    );
}
