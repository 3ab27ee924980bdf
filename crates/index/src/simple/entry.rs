use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::attestation::PROVENANCE;
use super::link::link;
use super::package::{Listed, Package};
use super::yank::Yank;
use base::names::RelPath;
use base::version::Version;
use wheel::archive::{Timestamp, variants};
use wheel::package::distribution_of;

/// Key of an entry whose value is the SHA-256 of the list of a package's content. PEP 691 reserves
/// keys with a leading `_` for private use.
pub const CONTENT: &str = "_content";

/// Ending of the name of a content list.
pub const CONTENT_ENDING: &str = "content";

/// A file on a page (PEP 691, PEP 700, PEP 714, PEP 740).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct IndexedFile {
    /// File name.
    pub filename: String,
    /// Address, possibly relative to the page.
    pub url: String,
    /// Checksums by algorithm.
    #[serde(default, deserialize_with = "unique_hashes")]
    pub hashes: BTreeMap<String, String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Upload time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_time: Option<String>,
    /// Supported Python versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<String>,
    /// Checksums of METADATA by algorithm, or true if it is offered without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_metadata: Option<Value>,
    /// Earlier name of `core_metadata` (PEP 658), which older installers read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dist_info_metadata: Option<Value>,
    /// Yank state.
    #[serde(default)]
    pub yanked: Yanked,
    /// Unknown keys, kept as they are.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Yank state of a file (PEP 592).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Yanked {
    /// Yanked or not, without a reason.
    Flag(bool),
    /// Yanked for a reason.
    Reason(String),
}

impl Default for Yanked {
    fn default() -> Self {
        Self::Flag(false)
    }
}

impl Yanked {
    /// Reason, possibly empty; `None` if not yanked.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Flag(false) => None,
            Self::Flag(true) => Some(""),
            Self::Reason(reason) => Some(reason),
        }
    }

    pub(super) fn from_reason(reason: Option<&str>) -> Self {
        match reason {
            None => Self::Flag(false),
            Some("") => Self::Flag(true),
            Some(reason) => Self::Reason(reason.to_owned()),
        }
    }
}

impl IndexedFile {
    pub(super) fn from_listed(page: &RelPath, listed: &Listed) -> Self {
        let Listed { path, package, yank, provenance, time } = listed;
        let yanked = yank.clone().and_then(Yank::reason);
        let entry =
            Self::new(path.file_name(), link(page, path), package, yanked.as_deref(), *time);
        entry.with_provenance(provenance.clone())
    }

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
            yanked: Yanked::from_reason(yanked),
            extra: BTreeMap::new(),
        }
    }

    /// Address of the provenance object.
    pub fn provenance(&self) -> Option<&str> {
        self.extra.get(PROVENANCE)?.as_str()
    }

    pub(crate) fn with_provenance(mut self, url: Option<String>) -> Self {
        self.extra.extend(url.map(|url| (PROVENANCE.to_owned(), Value::String(url))));
        self
    }

    /// Key of the first value whose form PEP 691 does not allow.
    pub(super) fn wrong_value(&self) -> Option<&'static str> {
        if !self.hashes.iter().all(|(algorithm, hash)| is_hash(algorithm, hash)) {
            return Some("hashes");
        }
        let metadata = [
            ("core-metadata", &self.core_metadata),
            ("dist-info-metadata", &self.dist_info_metadata),
        ];
        let wrong = |(_, value): &(_, &Option<Value>)| {
            value.as_ref().is_some_and(|value| !is_metadata(value))
        };
        metadata.into_iter().find(wrong).map(|(key, _)| key)
    }

    /// SHA-256; `None` for an invalid value, because no file matches it.
    pub fn sha256(&self) -> Option<&str> {
        let is_sha256 =
            |text: &&str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        self.hashes.get("sha256").map(String::as_str).filter(is_sha256)
    }

    /// HTML attribute for METADATA: a checksum, of another algorithm if there is no SHA-256, or `true`.
    pub(super) fn metadata_attribute(&self) -> Option<String> {
        match self.core_metadata.as_ref().or(self.dist_info_metadata.as_ref())? {
            Value::Bool(true) => Some("true".to_owned()),
            Value::Object(hashes) => {
                let sha256 = hashes.get_key_value("sha256");
                let Some((algorithm, hash)) = sha256.or_else(|| hashes.iter().next()) else {
                    return Some("true".to_owned());
                };
                hash.as_str().map(|hash| format!("{algorithm}={hash}"))
            }
            _ => None,
        }
    }

    pub(crate) fn has_metadata(&self) -> bool {
        self.metadata_attribute().is_some()
    }

    /// Project and version from the file name.
    pub fn project(&self) -> Option<(String, Version)> {
        project_of(&self.filename)
    }
}

/// Reads a map, with values in lower case. Rejects duplicate keys, because programs disagree on the
/// one that counts.
fn unique_hashes<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct UniqueHashes;

    impl<'de> Visitor<'de> for UniqueHashes {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of hashes")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut hashes = BTreeMap::new();
            while let Some((algorithm, hash)) = map.next_entry::<String, String>()? {
                if hashes.insert(algorithm, hash.to_ascii_lowercase()).is_some() {
                    return Err(M::Error::custom("two hashes of one algorithm"));
                }
            }
            Ok(hashes)
        }
    }

    from.deserialize_map(UniqueHashes)
}

fn is_hash(algorithm: &str, hash: &str) -> bool {
    let is_name = algorithm.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let is_hex = hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_name && is_hex && !algorithm.is_empty() && !hash.is_empty()
}

fn is_metadata(value: &Value) -> bool {
    let is_checksum =
        |(name, hash): (&String, &Value)| hash.as_str().is_some_and(|h| is_hash(name, h));
    match value {
        Value::Bool(_) => true,
        Value::Object(hashes) => hashes.iter().all(is_checksum),
        _ => false,
    }
}

/// Version of the API that a page needs: 1.3 for provenance.
pub(super) fn version(has_provenance: bool) -> &'static str {
    if has_provenance { "1.3" } else { "1.1" }
}

/// Normalized project and version from a file name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_offered_by_a_checksum_of_any_algorithm_or_by_true() {
        let attribute = |metadata: &str| {
            let entry = format!(r#"{{"filename": "a", "url": "a", "core-metadata": {metadata}}}"#);
            serde_json::from_str::<IndexedFile>(&entry).unwrap().metadata_attribute()
        };
        assert_eq!(attribute(r#"{"sha512": "ab", "sha256": "ef"}"#).unwrap(), "sha256=ef");
        assert_eq!(attribute(r#"{"sha512": "ab"}"#).unwrap(), "sha512=ab");
        assert_eq!(["{}", "true"].map(attribute), [(); 2].map(|()| Some("true".to_owned())));
        assert_eq!(["false", "null"].map(attribute), [None, None]);
    }
}
