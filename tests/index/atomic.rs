//! Client that reads during updates.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ::index::simple::{self, Layout, Options};
use base::hash::Sha256;
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::packages::wheel;

/// Reads one page and all files that it names. Each exists with the hash of the page, unless a
/// newer page no longer names it.
fn read_all(dir: &Path) -> usize {
    let parse = |path: &Path| -> Option<Value> {
        let bytes = fs::read(path).ok()?;
        // A page is complete at any time.
        Some(serde_json::from_slice(&bytes).unwrap())
    };
    let root = dir.join("simple/index.json");
    let names = |page: &Value| -> Vec<String> {
        page["projects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|project| project["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let Some(page) = parse(&root) else { return 0 };
    let mut count = 0;
    for name in names(&page) {
        let place = dir.join("simple").join(&name);
        let html = fs::read_to_string(place.join("index.html"));
        let Some(project) = parse(&place.join("index.json")).filter(|_| html.is_ok()) else {
            assert!(
                !names(&parse(&root).unwrap()).contains(&name),
                "the page of {name} is named and not there"
            );
            continue;
        };
        assert!(html.unwrap().ends_with("</html>\n"));
        for file in project["files"].as_array().unwrap() {
            let path = place.join(file["url"].as_str().unwrap());
            count += usize::from(is_whole(&path, file, "hashes"));
            let metadata = PathBuf::from(format!("{}.metadata", path.display()));
            count += usize::from(is_whole(&metadata, file, "core-metadata"));
            if !path.exists() || !metadata.exists() {
                let now = parse(&place.join("index.json"))
                    .map(|page| page["files"].to_string())
                    .unwrap_or_default();
                assert!(
                    !now.contains(file["filename"].as_str().unwrap()),
                    "{file} is named and not there"
                );
            }
        }
    }
    count
}

/// Returns whether a file exists. Panics if its hash is wrong.
fn is_whole(path: &Path, file: &Value, hash: &str) -> bool {
    let bytes = fs::read(path).ok();
    bytes
        .inspect(|bytes| {
            assert_eq!(file[hash]["sha256"], Sha256::of(bytes).to_string(), "{}", path.display());
        })
        .is_some()
}

#[test]
fn clients_see_the_old_or_the_new() {
    const UPDATES: usize = 200;
    let (dir, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    wheel(dir.path(), "steady", "1.0", &[]);
    simple::write(dir.path(), Layout::Simple, None).unwrap();
    let ended = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut files, mut rounds) = (0, 0);
            while !ended.load(Ordering::Relaxed) {
                files += read_all(dir.path());
                rounds += 1;
            }
            (files, rounds)
        });
        for update in 0..UPDATES {
            // Projects and versions are added and removed; each package is written at once.
            let (name, version) = (format!("project-{}", update % 5), format!("1.{update}"));
            let new = wheel(outside.path(), &name, &version, &[]);
            let package = dir.path().join(new.file_name().unwrap());
            fs::copy(&new, package.with_extension("part")).unwrap();
            fs::rename(package.with_extension("part"), &package).unwrap();
            let old = update
                .checked_sub(3)
                .map(|old| format!("project_{}-1.{old}-py3-none-any.whl", old % 5));
            let options = Options { remove: old.into_iter().collect(), ..Options::default() };
            simple::write_with(dir.path(), &options, None).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    let (files, rounds) = counts;
    eprintln!("{UPDATES} updates, {rounds} readings of {files} files");
    assert!(rounds > 20 && files > rounds, "{rounds} {files}");
    assert!(read_all(dir.path()) > 0);
}
