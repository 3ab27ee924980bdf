use std::collections::BTreeMap;

use super::compare::{Compared, Leftover};
use base::hash::Sha256;
use manifest::LedgerClass;

/// Joins leftovers of both sides with the same bytes to moves; the rest is of one side only.
pub(super) fn joined(theirs: Vec<Leftover<'_>>, ours: Vec<Leftover<'_>>, compared: &mut Compared) {
    let mut by_bytes: BTreeMap<Sha256, Vec<Leftover<'_>>> = BTreeMap::new();
    for file in ours {
        match file.bytes() {
            Some(sha256) => by_bytes.entry(sha256).or_default().push(file),
            None => compared.alone(&file, LedgerClass::OnlyOurs),
        }
    }
    for file in theirs {
        let same = file.bytes().and_then(|sha256| by_bytes.get_mut(&sha256));
        match same.filter(|same| !same.is_empty()).map(|same| same.remove(0)) {
            Some(there) => compared.moved(&file, &there),
            None => compared.alone(&file, LedgerClass::OnlyTheirs),
        }
    }
    for file in by_bytes.into_values().flatten() {
        compared.alone(&file, LedgerClass::OnlyOurs);
    }
}
