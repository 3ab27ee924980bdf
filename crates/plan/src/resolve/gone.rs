use std::collections::HashMap;

use super::install_tree::Item;
use super::resolved_dist::{ResolvedDist, resolved_dists};
use super::select::Refusals;
use super::targets::{self, Targets};
use super::unowned::{self, Cause, Causes};
use crate::Request;
use base::names::PackageName;
use catalog::{Catalog, EntryKind};
use manifest::{Manifest, PackageKind};

/// Reason for an omitted path below a platform directory.
pub type Why<'w> = dyn Fn(&PackageName, &str) -> Option<String> + 'w;

/// Calls `work` with reasons.
pub fn with_reasons<R>(
    manifest: &Manifest,
    catalog: &Catalog,
    request: &Request,
    work: impl FnOnce(&Why<'_>) -> R,
) -> R {
    let catalog = &*catalog.sorted();
    let (targets, _) = targets::resolve(manifest, catalog, request);
    let counting = manifest.for_target(targets.target());
    let dists = resolved_dists(&counting, &targets, targets::suffix(request)).unwrap_or_default();
    let mut items: HashMap<&str, Vec<Item<'_>>> = HashMap::new();
    for artifact in &catalog.artifacts {
        let files = artifact.entries.iter().filter(|e| !matches!(e.kind, EntryKind::Directory));
        for entry in files {
            items.entry(entry.path.as_str()).or_default().push(Item { artifact, entry });
        }
    }
    let reasons = Reasons {
        manifest: &counting,
        whole: manifest,
        catalog,
        targets: &targets,
        dists: &dists,
        items,
    };
    work(&|package, path| reasons.reason(package, path))
}

struct Reasons<'a> {
    manifest: &'a Manifest,
    whole: &'a Manifest,
    catalog: &'a Catalog,
    targets: &'a Targets,
    dists: &'a [ResolvedDist<'a>],
    items: HashMap<&'a str, Vec<Item<'a>>>,
}

impl<'a> Reasons<'a> {
    fn reason(&self, package: &PackageName, path: &str) -> Option<String> {
        let items = self.items.get(path)?;
        let is_of_package = |dist: &&ResolvedDist<'_>| dist.package.name.value == *package;
        if !self.dists.iter().any(|dist| is_of_package(&dist)) {
            return Some(format!("package `{package}` is not built"));
        }
        let refused = items.iter().find_map(|item| {
            let dist = self
                .dists
                .iter()
                .filter(is_of_package)
                .find(|dist| dist.fits(&item.artifact.id))?;
            let refusal = Refusals::new(self.manifest, dist, item.artifact).refusal(item.entry)?;
            Some(Cause::Refused(dist.package, refusal).describe(&item.artifact.id))
        });
        refused.or_else(|| self.reason_of_other_package(package, items.first()?))
    }

    fn reason_of_other_package(&self, package: &PackageName, item: &Item<'a>) -> Option<String> {
        let id = &item.artifact.id;
        let takes = |dist: &&ResolvedDist<'a>| {
            matches!(dist.package.kind, PackageKind::Runtime | PackageKind::Devel)
                && dist.fits(id)
                && Refusals::new(self.manifest, dist, item.artifact).takes(item.entry)
        };
        let owner = self.dists.iter().find(takes).map(|dist| &dist.package.name.value);
        if owner == Some(package) {
            return None;
        }
        if let Some(owner) = owner {
            return Some(format!(
                "no line of `{package}` takes artifact `{}`; `{owner}` has it",
                id.name
            ));
        }
        if let Some(rule) = unowned::dropping(self.manifest, item) {
            return Some(format!("dropped by {}: {}", rule.glob.place, rule.reason));
        }
        let mut causes = Causes::new(
            (self.manifest, self.catalog),
            self.whole,
            self.targets.target(),
            self.dists,
        );
        causes.causes(item).first().map(|cause| cause.describe(id))
    }
}
