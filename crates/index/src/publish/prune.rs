//! Retention: packages that are too old go from a store, pages first.
//!
//! In this order, so that whatever interrupts it leaves an index of whole packages:
//!
//! 1. everything is looked at: how old packages are, which have to stay because others that stay require them,
//!    because another page names them, or because nothing newer of their project is complete;
//! 2. pages of projects lose the names, those who require others before these;
//! 3. what no page names any more is deleted, first what lies beside a package, then the package.
//!
//! **Again.** A run after an interrupted one finds packages that no page names, and deletes those that are too old.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::layout::{Layout, PageKeys};
use super::stream::StreamRecord;
use super::workers::each;
use super::writer::Writer;
use super::{PublishError, Step, order, read};
use crate::simple::Files;
use crate::store::Bucket;
use base::names::RelPath;
use manifest::Dated;

mod age;
mod inventory;
mod needs;

use age::Age;
use inventory::{Inventory, Item, Page};
use needs::Needs;

/// What a publisher may still be about to name: it is not older.
const UNDER_WAY: Duration = Duration::from_hours(24);

/// What goes.
#[derive(Debug, Clone)]
pub struct Retention {
    /// Where packages and pages are.
    pub layout: Layout,
    /// How many days packages stay.
    pub days: u32,
    /// What says how old they are.
    pub date: Dated,
    /// The time that their age is counted to.
    pub now: SystemTime,
    /// Go on where more than half of the packages go.
    pub yes: bool,
    /// Look at everything, and write nothing.
    pub dry_run: bool,
    /// How many requests are made at once; one, if it is 0.
    pub jobs: usize,
}

/// Something that is done, or that would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PruneStep {
    /// A package is too old, and stays.
    Kept {
        /// Its key.
        key: RelPath,
        /// Why it stays.
        because: String,
    },
    /// A page loses names.
    Page {
        /// Its key.
        key: RelPath,
        /// How many.
        fewer: usize,
    },
    /// An object goes.
    Removed {
        /// Its key.
        key: RelPath,
        /// Its size in bytes.
        size: u64,
        /// Why it goes.
        because: String,
    },
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Packages that went.
    pub removed: usize,
    /// The bytes of all that went.
    pub bytes: u64,
    /// Packages that are too old and stay.
    pub kept: usize,
    /// All packages that were there.
    pub all: usize,
    /// Pages that were written.
    pub pages: usize,
}

/// Removes what is older than it may be. Each step is `told` before it is done, from several threads.
///
/// # Errors
/// When there is no index, the store is not recorded as that of the stream, more than half of the packages would go
/// and that was not allowed, it has no lists, a page cannot be read, or it is not
/// known what a package that stays requires: nothing is written then. When the store fails later, what pages name is there, and another run does the rest.
pub fn prune(
    bucket: &dyn Bucket,
    retention: &Retention,
    told: &(dyn Fn(&PruneStep) + Sync),
) -> Result<Pruned, PublishError> {
    let record = StreamRecord::of(bucket, &retention.layout)?;
    record.check()?;
    let inventory = Inventory::read(bucket, &retention.layout, retention.jobs)?;
    // A place without an index is likely to be another than was meant.
    if inventory.pages.is_empty() {
        return Err(PublishError::NoPages(bucket.name().to_owned()));
    }
    record.require()?;
    let mut pruned = Pruned { all: inventory.items().count(), ..Pruned::default() };
    let mut going: BTreeMap<&RelPath, (&Item, String)> = BTreeMap::new();
    for (item, age, kept) in verdicts(bucket, retention, &inventory)? {
        match kept {
            Some(because) => {
                pruned.kept += 1;
                told(&PruneStep::Kept { key: item.key().clone(), because });
            }
            None => drop(going.insert(item.key(), (item, age.to_string()))),
        }
    }
    if is_more_than_half(going.len(), pruned.all) && !retention.yes && !retention.dry_run {
        let (store, going, all) = (bucket.name().to_owned(), going.len(), pruned.all);
        return Err(PublishError::TooMany { store, going, all });
    }
    let items: Vec<&Item> = going.values().map(|(item, _)| *item).collect();
    let off = OffPages { bucket, retention, going: going.keys().copied().collect() };
    let mut named = BTreeSet::new();
    for page in in_order(bucket, retention, &inventory, &items)? {
        pruned.pages += off.write(page, told)?;
    }
    if !retention.dry_run {
        // Somebody may have published one of them again.
        for page in off.pages(&inventory) {
            named.extend(inventory::named(bucket, &page.place)?.0);
        }
    }
    let going: Vec<_> =
        going.into_values().filter(|(item, _)| !named.contains(item.key())).collect();
    pruned.removed = going.len();
    pruned.bytes =
        going.iter().flat_map(|(item, _)| item.objects()).map(|object| object.size).sum();
    // What would be done is told in one order, whoever asks.
    let jobs = if retention.dry_run { 1 } else { retention.jobs };
    each(&going, jobs, |(item, because)| {
        item.objects().try_for_each(|object| {
            let (key, size, because) = (object.key.clone(), object.size, because.clone());
            told(&PruneStep::Removed { key, size, because });
            if retention.dry_run { Ok(()) } else { bucket.delete(&object.key) }
        })
    })?;
    Ok(pruned)
}

/// Whether so many packages are more than half of all, which nothing removes without being asked again.
pub fn is_more_than_half(going: usize, all: usize) -> bool {
    going * 2 > all
}

/// The pages that lose names, those whose packages require others before the pages of these.
fn in_order<'i>(
    bucket: &dyn Bucket,
    retention: &Retention,
    inventory: &'i Inventory,
    going: &[&'i Item],
) -> Result<Vec<&'i Page>, PublishError> {
    let requirements = each(going, retention.jobs, |item| needs::requirements(bucket, item))?;
    let mut requires: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (item, list) in going.iter().zip(requirements) {
        let names = list.into_iter().flatten().map(|requirement| requirement.name);
        requires.entry(&item.project).or_default().extend(names);
    }
    let parts_first = order::parts_first(&requires);
    let last = |page: &&Page| {
        let of = |project| parts_first.iter().position(|other| *other == project);
        inventory.projects(page).filter_map(of).max()
    };
    let mut pages: Vec<&Page> = inventory.pages.iter().collect();
    pages.sort_by_key(|page| std::cmp::Reverse(last(page)));
    Ok(pages)
}

/// What is too old, how old it is, and why it stays all the same.
type Verdict<'i> = (&'i Item, Age, Option<String>);

fn verdicts<'i>(
    bucket: &dyn Bucket,
    retention: &Retention,
    inventory: &'i Inventory,
) -> Result<Vec<Verdict<'i>>, PublishError> {
    let (mut old, mut needs) = (Vec::new(), Needs::new(bucket, inventory, retention.jobs));
    for item in inventory.items() {
        let age = Age::of(item, retention);
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
        let by = needed.get(item.key()).map(|by| format!("`{by}` requires it"));
        *kept = kept.take().or(by);
    }
    Ok(old)
}

/// Takes names off pages.
struct OffPages<'a> {
    bucket: &'a dyn Bucket,
    retention: &'a Retention,
    going: BTreeSet<&'a RelPath>,
}

impl OffPages<'_> {
    /// The pages that lose names.
    fn pages<'i>(&self, inventory: &'i Inventory) -> impl Iterator<Item = &'i Page> {
        inventory.pages.iter().filter(|page| page.names.iter().any(|key| self.going.contains(key)))
    }

    /// Takes names off a page, and says how many files had to be written for that.
    fn write(&self, page: &Page, told: &dyn Fn(&PruneStep)) -> Result<usize, PublishError> {
        let Page { place, title, uncached, names, .. } = page;
        let fewer = names.iter().filter(|key| self.going.contains(key)).count();
        if fewer == 0 {
            return Ok(0);
        }
        told(&PruneStep::Page { key: place.html.clone(), fewer });
        if self.retention.dry_run {
            return Ok(2);
        }
        let files = || {
            let (there, page) = read::files(self.bucket, place, title)?;
            let left = self.left(place, there.unwrap_or_else(|| Files::new(title)));
            Ok::<_, PublishError>((left, page))
        };
        let json = || {
            let (left, page) = files()?;
            let text = left.json();
            let text = text.map_err(|e| read::wrong(self.bucket, &place.json, e.into()))?;
            Ok(((text, 0), page))
        };
        let html = || Ok(Some(files()?.0.html()));
        let writer = Writer { bucket: self.bucket };
        let ahead = writer.ahead(place, *uncached, html)?;
        Ok(ahead + writer.both(place, *uncached, &|_: &Step| (), json, html)?)
    }

    /// What stays on a page.
    fn left(&self, place: &PageKeys, mut files: Files) -> Files {
        let goes = |url: &str| {
            inventory::key_of(&place.html, url).is_some_and(|key| self.going.contains(&key))
        };
        files.files.retain(|entry| !goes(&entry.url));
        files
    }
}
