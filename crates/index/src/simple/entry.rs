//! A package as a page names it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::link;
use super::package::{Listed, Package};
use base::names::RelPath;
use base::version::Version;
use wheel::archive::{Timestamp, variants};
use wheel::package::distribution_of;

/// What a page says of a file (PEP 691, PEP 700, PEP 714), whoever wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct IndexedFile {
    /// Its name.
    pub filename: String,
    /// Where it is, as seen from the page.
    pub url: String,
    /// Its checksums by algorithm.
    #[serde(default)]
    pub hashes: BTreeMap<String, String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// When it was uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_time: Option<String>,
    /// The Python versions that it runs with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<String>,
    /// Checksums of its metadata, or whether it lies beside the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_metadata: Option<Value>,
    /// The same under the name that older installers look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dist_info_metadata: Option<Value>,
    /// Whether nobody should take it any more.
    #[serde(default)]
    pub yanked: Yanked,
    /// What other programs say of it.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// Whether a file is yanked (PEP 592): a reason, or whether.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Yanked {
    /// Whether, without a reason.
    Whether(bool),
    /// It is, and why.
    Reason(String),
}

impl Default for Yanked {
    fn default() -> Self {
        Self::Whether(false)
    }
}

impl Yanked {
    /// The reason, which may be empty; nothing of a file that is not yanked.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Whether(false) => None,
            Self::Whether(true) => Some(""),
            Self::Reason(reason) => Some(reason),
        }
    }

    /// What a reason says.
    pub(super) fn of(reason: Option<&str>) -> Self {
        match reason {
            None => Self::Whether(false),
            Some("") => Self::Whether(true),
            Some(reason) => Self::Reason(reason.to_owned()),
        }
    }
}

impl IndexedFile {
    /// The package on the page `at`.
    pub(super) fn of(at: &RelPath, listed: &Listed) -> Self {
        let Listed { path, package, yanked, time } = listed;
        Self::new(path.file_name(), link(at, path), package, yanked.as_deref(), *time)
    }

    /// A package that is seen at `url`, was uploaded at `time`, and is yanked if there is a reason.
    pub(super) fn new(
        file_name: &str,
        url: String,
        package: &Package,
        yanked: Option<&str>,
        time: Timestamp,
    ) -> Self {
        let metadata =
            || package.metadata.as_ref().map(|hash| serde_json::json!({ "sha256": hash }));
        Self {
            filename: file_name.to_owned(),
            url,
            hashes: BTreeMap::from([("sha256".to_owned(), package.sha256.clone())]),
            size: Some(package.size),
            upload_time: Some(time.rfc3339()),
            requires_python: package.requires_python.clone(),
            core_metadata: metadata(),
            dist_info_metadata: metadata(),
            yanked: Yanked::of(yanked),
            other: BTreeMap::new(),
        }
    }

    /// Its SHA-256, if the page says it. Another text in its place does not count: no file ever has that hash.
    pub fn sha256(&self) -> Option<&str> {
        let is_one = |text: &&str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        self.hashes.get("sha256").map(String::as_str).filter(is_one)
    }

    /// What attributes in HTML say of its metadata: a checksum, `true`, or nothing.
    pub(super) fn metadata_attribute(&self) -> Option<String> {
        match self.core_metadata.as_ref().or(self.dist_info_metadata.as_ref())? {
            Value::Bool(true) => Some("true".to_owned()),
            Value::Object(hashes) => {
                hashes.get("sha256")?.as_str().map(|hash| format!("sha256={hash}"))
            }
            _ => None,
        }
    }

    /// Whether its METADATA lies beside it.
    pub fn has_metadata(&self) -> bool {
        self.metadata_attribute().is_some()
    }

    /// The project and the version that its name says.
    pub fn project(&self) -> Option<(String, Version)> {
        project_of(&self.filename)
    }
}

/// The project, as indexes compare it, and the version that the file name of a package says.
pub fn project_of(file_name: &str) -> Option<(String, Version)> {
    if let Some((dist, version)) = variants::of_file_name(file_name) {
        return Some((dist.normalized(), version));
    }
    let version = match file_name.strip_suffix(".tar.gz") {
        Some(stem) => stem.rsplit_once('-')?.1,
        None => file_name.strip_suffix(".whl")?.split('-').nth(1)?,
    };
    Some((distribution_of(file_name)?, version.parse().ok()?))
}
