//! Publishing into a store: places, refusals, and the state after an interruption.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base::hash::Sha256;
use base::source::Source;
use fs_err as fs;
use index::publish::{Form, Layout, Options, PublishError, Step, Summary};
use index::store::{Bucket, Directory};
use manifest::Manifest;
use record::gate::Gate;
use serde_json::Value;
use tempfile::TempDir;

use crate::index::packages::{sdist, wheel};

#[path = "publishing/attestation.rs"]
mod attestation;
#[path = "publishing/closure.rs"]
mod closure;
#[path = "publishing/command.rs"]
mod command;
#[path = "publishing/copies.rs"]
mod copies;
#[path = "publishing/failing.rs"]
mod failing;
#[path = "publishing/faults.rs"]
mod faults;
#[path = "publishing/indexes.rs"]
mod indexes;
#[path = "publishing/mirror.rs"]
mod mirror;
#[path = "publishing/pages.rs"]
mod pages;
#[path = "publishing/patches.rs"]
mod patches;
#[path = "publishing/pinned.rs"]
mod pinned;
#[path = "publishing/prune.rs"]
mod prune;
#[path = "publishing/shelves.rs"]
mod shelves;
#[path = "publishing/together.rs"]
mod together;

const BOTH: [Form; 2] = [Form::Projects, Form::Flat];

fn options(form: Form) -> Options {
    Options { layout: Layout::from_form(form), jobs: 3, ..Options::default() }
}

/// Publishes with a manifest that accepts no finding.
fn publish(
    dir: &Path,
    bucket: &dyn Bucket,
    options: &Options,
    report: &(dyn Fn(&Step) + Sync),
) -> Result<Summary, PublishError> {
    let source = |name: &str, text: &str| Source::new(name, text);
    let packages =
        source("packages.kdl", "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n");
    let families = source("families.kdl", include_str!("../families.kdl"));
    let manifest = Manifest::decode(&packages, &families).unwrap();
    let gate = Gate {
        command: check::Command::Publish,
        manifest: &manifest,
        allowed: &[],
        on_allowed: &|_| (),
    };
    index::publish::publish(dir, bucket, options, &gate, report)
}

/// Publishes successfully, and returns the steps.
fn published(dir: &Path, bucket: &dyn Bucket, options: &Options) -> (Summary, Vec<Step>) {
    let steps = std::sync::Mutex::new(Vec::new());
    let report = |step: &Step| steps.lock().unwrap().push(step.clone());
    let summary = publish(dir, bucket, options, &report).unwrap();
    (summary, steps.into_inner().unwrap())
}

fn hash(path: &Path) -> String {
    Sha256::of(&fs::read(path).unwrap()).to_string()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = base::directory::names(dir).unwrap_or_default();
    names.sort();
    names
}

fn json(path: &Path) -> Option<Value> {
    fs::read(path).ok().map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

fn list<'v>(page: &'v Value, name: &str) -> Vec<&'v Value> {
    page[name].as_array().unwrap().iter().collect()
}

/// Checks an index in a directory: every named file exists with its hash. Returns the file names.
fn check_index(root: &Path, form: Form) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    match form {
        Form::Flat => {
            names.extend(check_page(root, "packages.json"));
        }
        Form::Projects => {
            let projects = json(&root.join("index.json"));
            for project in projects.iter().flat_map(|page| list(page, "projects")) {
                let place = root.join(project["name"].as_str().unwrap());
                assert!(place.join("index.html").is_file(), "{project} is named and not there");
                names.extend(check_page(&place, "index.json"));
            }
        }
    }
    names
}

fn check_page(place: &Path, data: &str) -> BTreeSet<String> {
    let Some(page) = json(&place.join(data)) else { return BTreeSet::new() };
    let names = list(&page, "files").into_iter().map(|file| {
        let path = place.join(file["url"].as_str().unwrap().replace("%2B", "+"));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(file["hashes"]["sha256"], Sha256::of(&bytes).to_string());
        if let Some(hash) = file["core-metadata"]["sha256"].as_str() {
            let metadata = fs::read(format!("{}.metadata", path.display())).unwrap();
            assert_eq!(hash, Sha256::of(&metadata).to_string());
        }
        file["filename"].as_str().unwrap().to_owned()
    });
    names.collect()
}

/// Returns every file of a directory with its bytes.
fn contents(root: &Path) -> Vec<(String, Vec<u8>)> {
    let bucket = Directory::new(root);
    let objects = bucket.list(None).unwrap();
    let files = objects
        .iter()
        .map(|object| (object.key.to_string(), fs::read(root.join(object.key.as_str())).unwrap()));
    files.collect()
}

/// Makes a selector with two parts, one of which has a part itself.
fn small_set(dir: &Path, version: &str) -> PathBuf {
    let dir = dir.join(format!("set-{version}"));
    let exactly = |name: &str| format!("{name}=={version}");
    wheel(&dir, "a-selector", version, &[&exactly("b-part"), &exactly("c-part")]);
    wheel(&dir, "b-part", version, &[]);
    wheel(&dir, "c-part", version, &[&exactly("b-part")]);
    sdist(&dir, "d-source", version);
    dir
}
