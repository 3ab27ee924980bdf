use std::collections::{BTreeMap, BTreeSet};

use crate::simple::Local;
use base::names::PackageName;

/// Selectors of a further index replace packages of their projects.
pub(super) fn by_index(locals: Vec<Local>) -> BTreeMap<Option<PackageName>, Vec<Local>> {
    let mut indexes: BTreeMap<Option<PackageName>, Vec<Local>> = BTreeMap::new();
    for local in locals {
        indexes.entry(local.index().cloned()).or_default().push(local);
    }
    let without_index = indexes.get(&None).cloned().unwrap_or_default();
    for (_, locals) in indexes.iter_mut().filter(|(index, _)| index.is_some()) {
        let projects: BTreeSet<String> = locals.iter().map(|local| local.project.clone()).collect();
        locals.extend(
            without_index.iter().filter(|local| !projects.contains(&local.project)).cloned(),
        );
        locals.sort_by(|a, b| a.file_name.cmp(&b.file_name));
    }
    indexes
}
