//! Directories of a wheel that have its version in their names, and metadata with another version.

use crate::archive::wheel::record::field;
use crate::package::header::fields;
use crate::package::record::Rows;
use base::version::Version;

/// Directories with new names: each with its old one and its final `/`.
#[derive(Debug)]
pub(super) struct Renamed([(String, String); 2]);

impl Renamed {
    /// `dist-info` and `data` of a wheel, given its metadata directory.
    pub(super) fn new(dist_info: &str, version: &Version) -> Self {
        let stem = dist_info.strip_suffix(".dist-info").unwrap_or(dist_info);
        let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
        let pair = |kind: &str| (format!("{stem}.{kind}/"), format!("{name}-{version}.{kind}/"));
        Self([pair("dist-info"), pair("data")])
    }

    /// The new path of a member, if it is in one of the directories.
    pub(super) fn path(&self, name: &str) -> Option<String> {
        let mut new = self
            .0
            .iter()
            .filter_map(|(old, new)| Some(format!("{new}{}", name.strip_prefix(old.as_str())?)));
        new.next()
    }

    /// RECORD with the new paths.
    pub(super) fn record(&self, text: &str) -> String {
        let mut all = String::with_capacity(text.len());
        for [path, hash, size] in Rows::new(text.as_bytes()).flatten() {
            let path = self.path(&path).unwrap_or(path);
            all.extend([&*field(&path), ",", &field(&hash), ",", &field(&size), "\n"]);
        }
        all
    }
}

/// `METADATA` with another version.
pub(super) fn metadata(text: &str, version: &Version) -> String {
    let (fields, body) = fields(text);
    let mut all = String::with_capacity(text.len());
    for field in fields {
        if field.name.eq_ignore_ascii_case("Version") {
            let end = if field.raw.ends_with("\r\n") { "\r\n" } else { "\n" };
            all.extend([field.name, ": ", version.as_str(), end]);
        } else {
            all.push_str(field.raw);
        }
    }
    all + body
}
