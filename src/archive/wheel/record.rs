//! RECORD: the list of what a wheel installs, from which it is uninstalled.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::archive::checksum::Digest;
use crate::names::RelPath;

/// The rows of a RECORD so far, in the order in which members came.
#[derive(Debug, Default)]
pub(super) struct Record(String);

impl Record {
    /// Adds a member.
    pub(super) fn add(&mut self, name: &RelPath, digest: &Digest) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{},{},{}", field(name.as_str()), digest.sha256.for_record(), digest.size);
    }

    /// The whole file; its own row, under `name`, has neither hash nor size.
    pub(super) fn render(self, name: &RelPath) -> String {
        format!("{}{},,\n", self.0, field(name.as_str()))
    }
}

/// A CSV field (RFC 4180): quoted if it has a comma or a quote. Paths have no line breaks.
fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")).into() } else { text.into() }
}
