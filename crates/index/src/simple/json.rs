//! JSON pages (PEP 691, with sizes, times and versions of PEP 700, provenance of PEP 740).

use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::{IndexedFile, version};

/// Mark of pages of this program; PEP 691 reserves a leading `_` for private use.
pub(super) const MARK: &str = r#""_generator":"rockpack""#;

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "api-version")]
    api_version: &'static str,
    #[serde(rename = "_generator")]
    generator: &'static str,
}

impl Meta {
    fn new(files: &[IndexedFile]) -> Self {
        Self { api_version: version(files), generator: "rockpack" }
    }
}

#[derive(Serialize)]
struct Root<'a> {
    meta: Meta,
    projects: Vec<BTreeMap<&'static str, &'a str>>,
}

#[derive(Serialize)]
struct Project<'a> {
    meta: Meta,
    name: &'a str,
    versions: &'a [&'a str],
    files: &'a [IndexedFile],
}

pub(super) fn root<'a>(projects: impl Iterator<Item = &'a str>) -> serde_json::Result<String> {
    line(&Root {
        meta: Meta::new(&[]),
        projects: projects.map(|name| BTreeMap::from([("name", name)])).collect(),
    })
}

/// Keeps the order of files and versions.
pub(super) fn project(
    name: &str,
    versions: &[&str],
    files: &[IndexedFile],
) -> serde_json::Result<String> {
    line(&Project { meta: Meta::new(files), name, versions, files })
}

fn line(page: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(page).map(|text| text + "\n")
}
