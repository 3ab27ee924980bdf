//! JSON pages (PEP 691, with sizes, times and versions of PEP 700, provenance of PEP 740).

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::entry::version;

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
    fn new(has_provenance: bool) -> Self {
        Self { api_version: version(has_provenance), generator: "rockpack" }
    }
}

#[derive(Serialize)]
struct Root<'a> {
    meta: Meta,
    projects: Vec<BTreeMap<&'static str, &'a str>>,
}

#[derive(Serialize)]
struct Project<'a, F: Iterator<Item: Serialize> + Clone> {
    meta: Meta,
    name: &'a str,
    versions: &'a [&'a str],
    #[serde(serialize_with = "one_by_one")]
    files: F,
}

fn one_by_one<F: Iterator<Item: Serialize> + Clone, S: Serializer>(
    files: &F,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(files.clone())
}

pub(super) fn root<'a>(projects: impl Iterator<Item = &'a str>) -> serde_json::Result<String> {
    line(&Root {
        meta: Meta::new(false),
        projects: projects.map(|name| BTreeMap::from([("name", name)])).collect(),
    })
}

/// Keeps the order of files and versions.
pub(super) fn project<'a>(
    name: &'a str,
    versions: &'a [&'a str],
    has_provenance: bool,
    files: impl Iterator<Item: Serialize> + Clone + 'a,
) -> impl Serialize + 'a {
    Project { meta: Meta::new(has_provenance), name, versions, files }
}

pub(super) fn line(page: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(page).map(|text| text + "\n")
}

pub(super) fn write_line(mut to: impl Write, page: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut to, page)?;
    to.write_all(b"\n")
}
