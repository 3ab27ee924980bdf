//! Entries of a catalog as a set.

use std::collections::HashSet;

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
    indexes: HashSet<EntryIndex>,
}

impl<'c> EntrySet<'c> {
    pub fn new(catalog: &'c Catalog) -> Self {
        Self { catalog, indexes: HashSet::new() }
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
        let catalog = self.catalog;
        self.indexes.extend(items.into_iter().filter_map(|item| EntryIndex::new(catalog, item)));
    }

    pub fn contains(&self, item: &Item<'_>) -> bool {
        EntryIndex::new(self.catalog, item).is_some_and(|index| self.indexes.contains(&index))
    }
}
