//! Entries of a catalog as a set.

use super::install_tree::Item;
use catalog::Catalog;

/// Index of an entry: equal paths of two artifacts are two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EntryIndex {
    artifact: usize,
    entry: usize,
}

impl EntryIndex {
    /// Returns `None` for an entry of another catalog.
    pub fn new(catalog: &Catalog, item: &Item<'_>) -> Option<Self> {
        Some(Self {
            artifact: catalog.artifacts.element_offset(item.artifact)?,
            entry: item.artifact.entries.element_offset(item.entry)?,
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct EntrySet<'c> {
    catalog: &'c Catalog,
    /// A bit for each entry, by artifact; shorter lists end with unset bits.
    bits: Vec<Vec<u64>>,
}

impl<'c> EntrySet<'c> {
    pub fn new(catalog: &'c Catalog) -> Self {
        Self { catalog, bits: vec![Vec::new(); catalog.artifacts.len()] }
    }

    pub fn from_items<'i>(
        catalog: &'c Catalog,
        items: impl IntoIterator<Item = &'i Item<'i>>,
    ) -> Self {
        let mut set = Self::new(catalog);
        set.extend(items);
        set
    }

    pub fn extend<'i>(&mut self, items: impl IntoIterator<Item = &'i Item<'i>>) {
        for item in items {
            let Some(index) = EntryIndex::new(self.catalog, item) else { continue };
            let bits = &mut self.bits[index.artifact];
            if bits.is_empty() {
                bits.resize(item.artifact.entries.len().div_ceil(BITS), 0);
            }
            bits[index.entry / BITS] |= 1 << (index.entry % BITS);
        }
    }

    /// Adds the entries of a set of the same catalog.
    pub fn merge(&mut self, other: &Self) {
        for (bits, others) in self.bits.iter_mut().zip(&other.bits) {
            bits.resize(bits.len().max(others.len()), 0);
            bits.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
        }
    }

    pub fn contains(&self, item: &Item<'_>) -> bool {
        let word = |index: &EntryIndex| {
            self.bits.get(index.artifact)?.get(index.entry / BITS).map(|word| (*word, index.entry))
        };
        let word = EntryIndex::new(self.catalog, item).as_ref().and_then(word);
        word.is_some_and(|(word, entry)| word >> (entry % BITS) & 1 == 1)
    }
}

const BITS: usize = u64::BITS as usize;
