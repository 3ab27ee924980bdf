//! RECORD: the list of what a wheel installs, from which it is uninstalled.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::archive::checksum::{Digest, Sha256};
use base::names::RelPath;

/// The rows of a RECORD so far, in the order in which members came.
#[derive(Debug, Default)]
pub(super) struct Record(Vec<(RelPath, Digest)>);

impl Record {
    /// Adds a member.
    pub(super) fn add(&mut self, name: &RelPath, digest: &Digest) {
        self.0.push((name.clone(), *digest));
    }

    /// What is said of a member.
    pub(super) fn digest(&self, name: &RelPath) -> Option<Digest> {
        self.0.iter().find_map(|(listed, digest)| (listed == name).then_some(*digest))
    }

    /// The hash of every member so far, by name. To be looked up in: it has no order.
    pub(super) fn hashes(&self) -> HashMap<&RelPath, Sha256> {
        self.0.iter().map(|(name, digest)| (name, digest.sha256)).collect()
    }

    /// The whole file; its own row, under `name`, has neither hash nor size.
    pub(super) fn render(self, name: &RelPath) -> String {
        let rows = self.0.iter().map(|(name, digest)| row(name.as_str(), digest));
        rows.chain([own_row(name.as_str())]).collect()
    }
}

/// The row of a member, with its line break.
pub fn row(name: &str, digest: &Digest) -> String {
    format!("{},{},{}\n", field(name), digest.sha256.for_record(), digest.size)
}

/// RECORD's own row, which has neither hash nor size.
pub fn own_row(name: &str) -> String {
    format!("{},,\n", field(name))
}

/// A CSV field (RFC 4180): quoted if it has a comma or a quote. Paths have no line breaks.
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}
