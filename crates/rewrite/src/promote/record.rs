//! RECORD with other names and other hashes.

use std::collections::BTreeMap;

use wheel::archive::checksum::Digest;
use wheel::archive::wheel::record::{field, row};
use wheel::package::record::Rows;

/// The rows of `text` in their order: `renamed` gives each member's name, nothing where it is left out;
/// `digests` has those of members with another content, by their old names.
pub(super) fn promoted(
    text: &str,
    renamed: impl Fn(&str) -> Option<String>,
    digests: &BTreeMap<String, Digest>,
) -> String {
    let mut all = String::with_capacity(text.len());
    for [path, hash, size] in Rows::new(text.as_bytes()).flatten() {
        let Some(name) = renamed(&path) else { continue };
        match digests.get(&path) {
            Some(digest) => all += &row(&name, digest),
            None => all.extend([&*field(&name), ",", &field(&hash), ",", &field(&size), "\n"]),
        }
    }
    all
}
