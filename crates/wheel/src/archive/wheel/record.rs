//! RECORD: list of installed files, used for uninstallation.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::archive::checksum::Digest;
use base::hash::Sha256;
use base::names::RelPath;

#[derive(Debug, Default)]
pub(super) struct Record(Vec<(RelPath, Digest)>);

impl Record {
    pub(super) fn add(&mut self, name: &RelPath, digest: &Digest) {
        self.0.push((name.clone(), *digest));
    }

    pub(super) fn digest(&self, name: &RelPath) -> Option<Digest> {
        self.0.iter().find_map(|(listed, digest)| (listed == name).then_some(*digest))
    }

    pub(super) fn hashes(&self) -> HashMap<&RelPath, Sha256> {
        self.0.iter().map(|(name, digest)| (name, digest.sha256)).collect()
    }

    pub(super) fn render(self, name: &RelPath) -> String {
        let rows = self.0.iter().map(|(name, digest)| row(name.as_str(), digest));
        rows.chain([own_row(name.as_str())]).collect()
    }
}

pub fn row(name: &str, digest: &Digest) -> String {
    format!("{},{},{}\n", field(name), digest.sha256.for_record(), digest.size)
}

pub(crate) fn own_row(name: &str) -> String {
    format!("{},,\n", field(name))
}

/// Formats a CSV field (RFC 4180). Paths have no line breaks.
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}
