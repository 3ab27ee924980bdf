use std::collections::BTreeMap;

use super::package::{File, Package};
use base::hash::Sha256;

/// File without a file of its path on the other side.
pub(super) struct Leftover<'p> {
    pub package: &'p Package,
    pub path: &'p str,
    pub file: &'p File,
    /// Its package is on one side only, and is reported as a whole.
    pub is_in_lone_package: bool,
}

/// Leftovers of both sides with the same bytes, and the rest of each side.
pub(super) struct Joined<'p> {
    pub moves: Vec<(Leftover<'p>, Leftover<'p>)>,
    pub theirs: Vec<Leftover<'p>>,
    pub ours: Vec<Leftover<'p>>,
}

/// Joins each leftover to at most one of the other side.
pub(super) fn joined<'p>(theirs: Vec<Leftover<'p>>, ours: Vec<Leftover<'p>>) -> Joined<'p> {
    let mut joined = Joined { moves: Vec::new(), theirs: Vec::new(), ours: Vec::new() };
    let mut by_bytes: BTreeMap<Sha256, Vec<Leftover<'p>>> = BTreeMap::new();
    for file in ours {
        match file.file.sha256() {
            Some(sha256) => by_bytes.entry(sha256).or_default().push(file),
            None => joined.ours.push(file),
        }
    }
    for file in theirs {
        let copies = file.file.sha256().and_then(|sha256| by_bytes.get_mut(&sha256));
        match copies.filter(|copies| !copies.is_empty()).map(|copies| copies.remove(0)) {
            Some(there) => joined.moves.push((file, there)),
            None => joined.theirs.push(file),
        }
    }
    joined.ours.extend(by_bytes.into_values().flatten());
    joined
}
