use std::collections::BTreeSet;

use super::{InOneMode, landing};
use base::names::RelPath;
use catalog::Catalog;

pub(super) fn paths(catalog: &Catalog, modes: &[InOneMode<'_>]) -> BTreeSet<RelPath> {
    let mut paths: BTreeSet<RelPath> =
        catalog.artifacts.iter().flat_map(|a| &a.entries).map(|e| e.path.clone()).collect();
    for plan in modes.iter().filter_map(|m| m.plan.as_ref()) {
        paths.extend(landing::by_path(plan).into_keys());
        // A missing library has a pattern instead of a path.
        let absent = plan
            .distributions
            .iter()
            .flat_map(|d| &d.absent)
            .filter(|a| !a.path.as_str().contains('*'));
        paths.extend(absent.map(|a| a.path.clone()));
    }
    paths
}

pub(super) fn below_platform_directory(path: &RelPath, modes: &[InOneMode<'_>]) -> Option<RelPath> {
    let (first, rest) = path.as_str().split_once('/')?;
    let mut resolved_dists = modes
        .iter()
        .filter_map(|m| m.scope.as_ref())
        .flat_map(|(_, resolved_dists)| resolved_dists);
    resolved_dists.any(|i| i.platform_dir.as_str() == first).then(|| rest.parse().ok())?
}

const OFFERED: usize = 6;

pub(super) fn nearest(text: &str, known: &BTreeSet<RelPath>) -> Vec<RelPath> {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = format!("/{text}");
    let likeness = |path: &RelPath| {
        // The directory was probably left out.
        let whole = f64::from(u8::from(path.as_str().ends_with(&ending)))
            + f64::from(u8::from(path.file_name() == name));
        whole
            + strsim::jaro_winkler(text, path.as_str())
                .max(strsim::jaro_winkler(name, path.file_name()) * 0.95)
    };
    // Below 0.8 the paths have little in common; 0.95 prefers a similar path to a similar name.
    let mut near: Vec<(f64, &RelPath)> =
        known.iter().map(|path| (likeness(path), path)).filter(|(like, _)| *like > 0.8).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.into_iter().take(OFFERED).map(|(_, path)| path.clone()).collect()
}
