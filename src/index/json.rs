//! Pages as JSON (PEP 691, with sizes, times and versions as in PEP 700).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::package::Listed;
use super::page::link;
use crate::names::RelPath;

/// What marks a page as ours; keys that begin with `_` are for private use (PEP 691).
pub(super) const MARK: &str = r#""_generator":"rockpack""#;

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "api-version")]
    api_version: &'static str,
    #[serde(rename = "_generator")]
    generator: &'static str,
}

const META: Meta = Meta { api_version: "1.1", generator: "rockpack" };

#[derive(Serialize)]
struct Root<'a> {
    meta: Meta,
    projects: Vec<BTreeMap<&'static str, &'a str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct File<'a> {
    filename: &'a str,
    url: String,
    hashes: BTreeMap<&'static str, &'a str>,
    size: u64,
    upload_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_python: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_metadata: Option<BTreeMap<&'static str, &'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dist_info_metadata: Option<BTreeMap<&'static str, &'a str>>,
    yanked: Yanked<'a>,
}

/// PEP 691: a reason, or whether.
#[derive(Serialize)]
#[serde(untagged)]
enum Yanked<'a> {
    Whether(bool),
    Reason(&'a str),
}

#[derive(Serialize)]
struct Project<'a> {
    meta: Meta,
    name: &'a str,
    versions: Vec<&'a str>,
    files: Vec<File<'a>>,
}

/// The page of all projects.
pub(super) fn root<'a>(projects: impl Iterator<Item = &'a str>) -> serde_json::Result<String> {
    line(&Root {
        meta: META,
        projects: projects.map(|name| BTreeMap::from([("name", name)])).collect(),
    })
}

/// The page `at` of one project, whose files come in their order.
pub(super) fn project(at: &RelPath, name: &str, files: &[&Listed]) -> serde_json::Result<String> {
    let mut seen = BTreeSet::new();
    let versions = files
        .iter()
        .map(|file| file.package.version.as_str())
        .filter(|version| seen.insert(*version))
        .collect();
    line(&Project {
        meta: META,
        name,
        versions,
        files: files.iter().map(|listed| file(at, listed)).collect(),
    })
}

fn file<'a>(at: &RelPath, listed: &'a Listed) -> File<'a> {
    let Listed { path, package, yanked, time } = listed;
    let sha256 = |hash: &'a str| BTreeMap::from([("sha256", hash)]);
    let metadata = || package.metadata.as_deref().map(sha256);
    File {
        filename: path.file_name(),
        url: link(at, path),
        hashes: sha256(&package.sha256),
        size: package.size,
        upload_time: time.rfc3339(),
        requires_python: package.requires_python.as_deref(),
        core_metadata: metadata(),
        dist_info_metadata: metadata(),
        yanked: match yanked.as_deref() {
            None => Yanked::Whether(false),
            Some("") => Yanked::Whether(true),
            Some(reason) => Yanked::Reason(reason),
        },
    }
}

fn line(page: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(page).map(|text| text + "\n")
}
