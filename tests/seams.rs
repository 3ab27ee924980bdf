//! Interfaces of a build: artifacts and packed streams need no directory.
//!
//! The demo artifacts are read into memory, planned and built from there, through a cache in
//! memory. The result equals the program's build from a disk without a cache.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::event::{Event, Reporter};
use build::execute::{self, Attestations, Digests, Settings};
use cache::Summary;
use catalog::{self, Catalog, Directory, Source};
use fs_err as fs;
use manifest::Manifest;
use plan::resolve;
use plan::{Plan, Request, Templates};

mod memory_source;
mod memory_store;

use memory_source::MemorySource;
use memory_store::{MemoryStore, Shelf};

struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event) {}
}

/// Returns the repository's manifest.
fn manifest() -> Manifest {
    crate::repository::manifest()
}

/// Requests both kinds of packing: deflate, and xz for the archive in the devel wheel.
fn request() -> Request {
    let platform_tag = Some("linux_x86_64".parse().unwrap());
    Request { platform_tag, xz_preset: Some(0), ..Request::default() }
}

fn planned(manifest: &Manifest, catalog: &Catalog) -> Plan {
    let file = |path: &str| (path.parse().unwrap(), format!("# {path}\n"));
    let templates = Templates::from([
        ("meta".to_owned(), vec![file("pyproject.toml"), file("src/rocm_sdk/__init__.py")]),
        ("runtime".to_owned(), vec![file("LICENSE"), file("__init__.py")]),
        ("choice".to_owned(), vec![file("LICENSE")]),
    ]);
    resolve::plan(manifest, catalog, &templates, &request()).unwrap().0
}

/// Builds these artifacts in `dest`. Returns the files by path, and the use of the cache.
fn built(
    artifacts: &dyn Source,
    dest: &Path,
    cache: Option<MemoryStore>,
) -> (BTreeMap<String, Vec<u8>>, Option<Summary>) {
    let (manifest, catalog) = (manifest(), catalog::read(artifacts).unwrap());
    let plan = planned(&manifest, &catalog);
    let sboms = build::sbom::sboms(&manifest, &catalog, &plan);
    let attestations =
        Attestations { sboms, inputs: build::provenance::inputs(&request(), &[], &catalog) };
    let settings = Settings {
        memory: execute::least_memory(&plan),
        spans: false,
        digests: Digests::new(cache.map(|store| Box::new(store) as _)),
        elsewhere: None,
    };
    let outcome =
        execute::execute(&plan, &attestations, artifacts, dest, |_| false, settings, &Silent);
    let outcome = outcome.unwrap();
    let read = |built: &execute::Built| {
        (built.path.to_string(), fs::read(dest.join(built.path.as_str())).unwrap())
    };
    (outcome.built.iter().map(read).collect(), outcome.cache)
}

#[test]
fn builds_from_memory_equal_builds_from_disk() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("artifacts");
    crate::demo_tree::make(&place, true);
    let directory = Directory::open(&place).unwrap();
    let memory = MemorySource::of(&place);
    // From here on, only memory has the artifacts.
    let (expected, none) = built(&directory, &dir.path().join("a"), None);
    fs::remove_dir_all(&place).unwrap();
    assert!(none.is_none() && expected.len() > 4, "{:?}", expected.keys());

    let shelf = Arc::new(Shelf::default());
    let build = |dest: &str| {
        let (packages, cache) =
            built(&memory, &dir.path().join(dest), Some(MemoryStore::new(shelf.clone())));
        (packages, cache.unwrap())
    };
    let (first, filled) = build("b");
    assert!(first == expected, "from memory, into an empty cache");
    assert_eq!((filled.hits, filled.remembered), (0, 0));
    assert!(filled.added > 50 && filled.misses >= filled.added, "{filled:?}");
    let (second, found) = build("c");
    assert!(second == expected, "from memory, out of a full cache");
    assert_eq!((found.misses, found.added, found.damaged), (0, 0, 0), "{found:?}");
    assert!(found.hits >= filled.added && found.remembered >= found.hits, "{found:?}");

    // A store with wrong bytes costs time, but does not change the packages.
    shelf.damage();
    let (third, healed) = build("d");
    assert!(third == expected, "out of a damaged cache");
    assert!(healed.damaged > 50 && healed.hits == 0, "{healed:?}");
}

#[test]
fn a_source_that_changes_under_a_build_stops_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("artifacts");
    catalog::demo::make(&place, true, b"#!/bin/sh\n").unwrap();
    let mut memory = MemorySource::of(&place);
    let catalog = catalog::read(&memory).unwrap();
    let plan = planned(&manifest(), &catalog);
    memory.change();
    let attestations = Attestations {
        sboms: Vec::new(),
        inputs: build::provenance::inputs(&request(), &[], &catalog),
    };
    let settings = Settings {
        memory: execute::least_memory(&plan),
        spans: false,
        digests: Digests::default(),
        elsewhere: None,
    };
    let dest = dir.path().join("out");
    let failed =
        execute::execute(&plan, &attestations, &memory, &dest, |_| false, settings, &Silent)
            .unwrap_err();
    assert!(failed.to_string().contains("was changed during the build"), "{failed}");
    assert!(!dest.join("dist").exists());
}
