//! Retention: removes old packages from a store: from pages first, those of requiring projects
//! before others, then the objects.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::layout::{Layout, PageKeys};
use super::page_store::PageStore;
use super::stream::StreamRecord;
use super::workers::run_parallel;
use super::writer::Writer;
use super::{PublishError, Step, order, read};
use crate::simple::Files;
use crate::store::Bucket;
use base::names::RelPath;
use manifest::Dated;

mod age;
mod inventory;
mod needs;
mod requirements;

use age::Age;
use inventory::{Inventory, Item, Page};

pub(super) use inventory::key_of;
use needs::Needs;
use requirements::Requirements;

/// Minimum age of packages without a page: a running `publish` could still name them.
const UNDER_WAY: Duration = Duration::from_hours(24);

/// Rules of retention.
#[derive(Debug, Clone)]
pub struct Retention {
    /// Layout of the store.
    pub layout: Layout,
    /// Days that packages stay.
    pub days: u32,
    /// Source of ages.
    pub date: Dated,
    /// Reference time.
    pub now: SystemTime,
    /// Permits removing more than half.
    pub yes: bool,
    /// Checks only.
    pub dry_run: bool,
    /// Parallel requests; 0 counts as 1.
    pub jobs: usize,
}

/// Step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PruneStep {
    /// Old package that stays.
    Kept {
        /// Key.
        key: RelPath,
        /// Reason.
        because: String,
    },
    /// Page that loses names.
    Page {
        /// Key.
        key: RelPath,
        /// Names.
        fewer: usize,
    },
    /// Removed object.
    Removed {
        /// Key.
        key: RelPath,
        /// Size in bytes.
        size: u64,
        /// Reason.
        because: String,
    },
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Removed packages.
    pub removed: usize,
    /// Bytes of removed objects.
    pub bytes: u64,
    /// Old packages that stay.
    pub kept: usize,
    /// Packages before the run.
    pub total: usize,
    /// Written page files.
    pub pages: usize,
}

/// Removes old packages. Calls `report` before each step, from several threads. Another run
/// completes an interrupted one.
///
/// # Errors
///
/// Fails before any write for unknown or unreadable state, and without permission to remove more
/// than half of the packages.
pub fn prune(
    bucket: &dyn Bucket,
    retention: &Retention,
    report: &(dyn Fn(&PruneStep) + Sync),
) -> Result<Pruned, PublishError> {
    let store = &PageStore::new(bucket);
    let record = StreamRecord::new(store, &retention.layout)?;
    record.check()?;
    let inventory = Inventory::read(store, &retention.layout, retention.jobs)?;
    // Probably a wrong location.
    if inventory.pages.is_empty() {
        return Err(PublishError::NoPages(bucket.name().to_owned()));
    }
    record.require()?;
    let mut pruned = Pruned { total: inventory.items().count(), ..Pruned::default() };
    let mut going: BTreeMap<&RelPath, (&Item, String)> = BTreeMap::new();
    let mut requirements = Requirements::new(bucket, retention.jobs);
    for (item, age, kept) in verdicts(retention, &inventory, &mut requirements)? {
        match kept {
            Some(because) => {
                pruned.kept += 1;
                report(&PruneStep::Kept { key: item.key().clone(), because });
            }
            None => drop(going.insert(item.key(), (item, age.to_string()))),
        }
    }
    if is_more_than_half(going.len(), pruned.total) && !retention.yes && !retention.dry_run {
        let (store, going, total) = (bucket.name().to_owned(), going.len(), pruned.total);
        return Err(PublishError::TooMany { store, going, total });
    }
    let items: Vec<&Item> = going.values().map(|(item, _)| *item).collect();
    let off = OffPages { store, retention, going: going.keys().copied().collect() };
    let mut named = BTreeSet::new();
    if !retention.dry_run {
        bucket.check_writes()?;
    }
    // Other programs write pages meanwhile.
    store.recheck();
    for page in sort_pages(&inventory, &items, &mut requirements)? {
        pruned.pages += off.write(page, report)?;
    }
    if !retention.dry_run {
        // Another program may have published a package again.
        store.recheck();
        for page in off.pages(&inventory) {
            named.extend(inventory::listed_keys(store, &page.place)?.0);
        }
    }
    let going: Vec<_> =
        going.into_values().filter(|(item, _)| !named.contains(item.key())).collect();
    pruned.removed = going.len();
    pruned.bytes =
        going.iter().flat_map(|(item, _)| item.objects()).map(|object| object.size).sum();
    // Dry runs report in a stable order.
    let jobs = if retention.dry_run { 1 } else { retention.jobs };
    run_parallel(&going, jobs, |(item, because)| {
        item.objects().try_for_each(|object| {
            let (key, size, because) = (object.key.clone(), object.size, because.clone());
            report(&PruneStep::Removed { key, size, because });
            if retention.dry_run { Ok(()) } else { bucket.delete(&object.key) }
        })
    })?;
    if !retention.dry_run {
        requirements.record(&going.iter().map(|(item, _)| item.key()).collect())?;
    }
    Ok(pruned)
}

/// Requires permission.
pub fn is_more_than_half(going: usize, total: usize) -> bool {
    going * 2 > total
}

/// Sorts pages of requiring projects first.
fn sort_pages<'i>(
    inventory: &'i Inventory,
    going: &[&'i Item],
    requirements: &mut Requirements<'i>,
) -> Result<Vec<&'i Page>, PublishError> {
    requirements.read(going)?;
    let mut requires: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for item in going {
        let list = requirements.of_item(item).into_iter().flatten();
        let names = list.map(|requirement| requirement.name.clone());
        requires.entry(&item.project).or_default().extend(names);
    }
    let parts_first = order::parts_first(&requires);
    let last = |page: &&Page| {
        let position = |project| parts_first.iter().position(|part| *part == project);
        inventory.projects(page).filter_map(position).max()
    };
    let mut pages: Vec<&Page> = inventory.pages.iter().collect();
    pages.sort_by_key(|page| std::cmp::Reverse(last(page)));
    Ok(pages)
}

type Verdict<'i> = (&'i Item, Age, Option<String>);

fn verdicts<'i>(
    retention: &Retention,
    inventory: &'i Inventory,
    requirements: &mut Requirements<'i>,
) -> Result<Vec<Verdict<'i>>, PublishError> {
    let (mut old, mut needs) = (Vec::new(), Needs::new(inventory, requirements));
    for item in inventory.items() {
        let age = Age::new(item, retention);
        match (inventory.named_elsewhere(item), age.is_too_old(item, retention)) {
            (_, false) => needs.keep(item),
            (Some(page), true) => {
                needs.keep(item);
                old.push((item, age, Some(format!("`{page}` names it"))));
            }
            (None, true) => old.push((item, age, None)),
        }
    }
    if old.iter().all(|(_, _, kept)| kept.is_some()) {
        return Ok(old);
    }
    let newest = needs.newest()?;
    for (item, _, kept) in &mut old {
        if newest.contains(item.key()) {
            needs.keep(item);
            let newest = || format!("the newest complete version of `{}` stays", item.project);
            kept.get_or_insert_with(newest);
        }
    }
    let needed = needs.follow()?;
    for (item, _, kept) in &mut old {
        let reason = needed.get(item.key()).map(|file| format!("`{file}` requires it"));
        *kept = kept.take().or(reason);
    }
    Ok(old)
}

struct OffPages<'a> {
    store: &'a PageStore<'a>,
    retention: &'a Retention,
    going: BTreeSet<&'a RelPath>,
}

impl OffPages<'_> {
    fn pages<'i>(&self, inventory: &'i Inventory) -> impl Iterator<Item = &'i Page> {
        inventory.pages.iter().filter(|page| page.names.iter().any(|key| self.going.contains(key)))
    }

    fn write(&self, page: &Page, report: &dyn Fn(&PruneStep)) -> Result<usize, PublishError> {
        let Page { place, title, uncached, names, .. } = page;
        let fewer = names.iter().filter(|key| self.going.contains(key)).count();
        if fewer == 0 {
            return Ok(0);
        }
        report(&PruneStep::Page { key: place.html.clone(), fewer });
        if self.retention.dry_run {
            return Ok(2);
        }
        let files = || {
            let (stored, page) = read::files(self.store, place, title)?;
            let remaining =
                self.without_removed(place, stored.unwrap_or_else(|| Files::new(title)));
            Ok::<_, PublishError>((remaining, page))
        };
        let json = || {
            let (remaining, page) = files()?;
            let text = remaining.json();
            let text = text.map_err(|e| read::wrong(self.store.bucket, &place.json, e.into()))?;
            Ok(((text, 0), page))
        };
        let html = || Ok(Some(files()?.0.html()));
        let writer = Writer { pages: self.store };
        let ahead = writer.ahead(place, *uncached, html)?;
        Ok(ahead + writer.write_pair(place, *uncached, &|_: &Step| (), json, html)?)
    }

    fn without_removed(&self, place: &PageKeys, mut files: Files) -> Files {
        let goes = |url: &str| {
            inventory::listed_key(&place.html, url).is_some_and(|key| self.going.contains(&key))
        };
        files.files.retain(|entry| !goes(&entry.url));
        files
    }
}
