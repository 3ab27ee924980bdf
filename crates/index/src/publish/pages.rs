use std::collections::{BTreeMap, BTreeSet};

use super::layout::{PageKeys, Placed};
use super::page_store::PageStore;
use super::workers::run_parallel;
use super::writer::Writer;
use super::{PublishError, Step, read};
use crate::simple::{Files, IndexedFile, PageError, Yanked};

pub(super) struct Pages<'a> {
    store: &'a PageStore<'a>,
    /// A flat shelf has one page.
    of_projects: BTreeMap<&'a str, PageKeys>,
    new: BTreeMap<PageKeys, New<'a>>,
    roots: BTreeMap<PageKeys, (BTreeSet<String>, bool)>,
}

struct New<'a> {
    title: &'a str,
    uncached: bool,
    entries: Vec<IndexedFile>,
    /// Yank states by file name.
    yanked: BTreeMap<String, Yanked>,
    stored: Stored,
}

/// Facts of the page in the store about the new packages alone: a page lists all nights.
#[derive(Default)]
struct Stored {
    /// SHA-256 by file name.
    sha256: BTreeMap<String, String>,
    /// Yank states by file name.
    yanked: BTreeMap<String, Yanked>,
}

impl New<'_> {
    fn add_to(&self, files: &mut Files) -> Result<(), PageError> {
        files.merge(&self.entries)?;
        files.set_yanked(&self.yanked);
        Ok(())
    }

    fn facts(&self, files: &Files) -> Stored {
        let names: BTreeSet<&str> = self.entries.iter().map(|entry| &*entry.filename).collect();
        let mut stored = Stored::default();
        for file in files.files.iter().filter(|file| names.contains(&*file.filename)) {
            let sha256 = file.sha256().map(|sha256| (file.filename.clone(), sha256.to_owned()));
            stored.sha256.extend(sha256);
            stored.yanked.insert(file.filename.clone(), file.yanked.clone());
        }
        stored
    }

    fn yanks(&self) -> Vec<Step> {
        let yanks = self.yanked.iter().filter_map(|(name, yanked)| {
            let before = self.stored.yanked.get(name).cloned().unwrap_or_default();
            let reason = yanked.reason().map(str::to_owned);
            let step = || Step::Yank { file: name.clone(), reason };
            (before.reason() != yanked.reason()).then(step)
        });
        yanks.collect()
    }
}

impl<'a> Pages<'a> {
    /// Fails if a page is invalid, edited by hand, or unmergeable.
    pub(super) fn new(
        store: &'a PageStore<'a>,
        placed: &'a [Placed<'a>],
        jobs: usize,
    ) -> Result<Self, PublishError> {
        let (mut of_projects, mut pages) = (BTreeMap::new(), BTreeMap::<PageKeys, New<'_>>::new());
        let mut roots: BTreeMap<PageKeys, (BTreeSet<String>, bool)> = BTreeMap::new();
        for package in placed {
            let (project, shelf) = (package.local.project.as_str(), package.shelf);
            let place = shelf.page(project)?;
            if let Some(root) = shelf.root()? {
                let names = roots.entry(root).or_insert((BTreeSet::new(), shelf.uncached));
                names.0.insert(project.to_owned());
            }
            of_projects.insert(project, place.clone());
            let new = pages.entry(place).or_insert_with(|| New {
                title: shelf.title(project),
                uncached: shelf.uncached,
                entries: Vec::new(),
                yanked: BTreeMap::new(),
                stored: Stored::default(),
            });
            new.entries.push(package.entry.clone());
            if let Some(yanked) = package.local.yanked() {
                new.yanked.insert(package.local.file_name.clone(), yanked);
            }
        }
        let mut pages = Self { store, of_projects, new: pages, roots };
        pages.look(jobs)?;
        Ok(pages)
    }

    fn look(&mut self, jobs: usize) -> Result<(), PublishError> {
        let store = self.store;
        let new: Vec<_> = self.new.iter().collect();
        let stored = run_parallel(&new, jobs, |(place, new)| {
            let files = || read::files_but(store, place, new.title, &new.yanked);
            let made = || Ok(files()?.0.map(|files| files.html()));
            let stored = files()?.0;
            let html = stored.as_ref().map(Files::html);
            let stored = stored.map(|files| new.facts(&files)).unwrap_or_default();
            read::is_as_made(store, place, html, made)?;
            Ok::<_, PublishError>(stored)
        })?;
        for (new, stored) in self.new.values_mut().zip(stored) {
            new.stored = stored;
        }
        self.roots.keys().try_for_each(|place| {
            let made = || Ok(read::projects(store, place)?.0.map(|p| p.html()));
            let html = made()?;
            read::is_as_made(store, place, html, made)
        })
    }

    pub(super) fn known_sha256(&self, placed: &Placed<'_>) -> Option<String> {
        let page = self.new.get(self.of_projects.get(placed.local.project.as_str())?)?;
        page.stored.sha256.get(&placed.local.file_name).cloned()
    }

    /// Reports the pages that would be written, and returns their number.
    pub(super) fn preview<'p>(
        &'p self,
        order: &[&'p str],
        report: &dyn Fn(&Step),
    ) -> Result<usize, PublishError> {
        let mut count = 0;
        for place in self.pages_in(order) {
            let new = &self.new[place];
            let stored = read::files_but(self.store, place, new.title, &new.yanked)?.0;
            let stored = stored.unwrap_or_else(|| Files::new(new.title));
            let mut merged = stored.clone();
            if new.add_to(&mut merged).is_ok() && merged != stored {
                let more = merged.files.len() - stored.files.len();
                new.yanks().iter().for_each(report);
                report(&Step::Page { key: place.html.clone(), more });
                count += 2;
            }
        }
        for (place, (names, _)) in &self.roots {
            let stored = read::projects(self.store, place).ok().and_then(|(stored, _)| stored);
            let stored = stored.unwrap_or_default();
            let more = names.difference(&stored.0).count();
            if more > 0 {
                report(&Step::Page { key: place.html.clone(), more });
                count += 2;
            }
        }
        Ok(count)
    }

    /// Writes all pages, projects first; returns the number of changed files.
    pub(super) fn write<'p>(
        &'p self,
        order: &[&'p str],
        report: &dyn Fn(&Step),
    ) -> Result<usize, PublishError> {
        let (mut count, writer) = (0, Writer { pages: self.store });
        for place in self.pages_in(order) {
            let new = &self.new[place];
            let merged = |stored: Option<Files>| {
                let mut files = stored.unwrap_or_else(|| Files::new(new.title));
                let before = files.files.len();
                new.add_to(&mut files)?;
                Ok((files.json()?, files.files.len() - before))
            };
            let files = || read::files_but(self.store, place, new.title, &new.yanked);
            let yanks = new.yanks();
            if yanks.iter().any(|step| matches!(step, Step::Yank { reason: None, .. })) {
                let less = |mut files: Files| {
                    files.set_yanked(&new.yanked);
                    files.html()
                };
                let html = || Ok(files()?.0.map(less));
                count += writer.ahead(place, new.uncached, html)?;
            }
            yanks.iter().for_each(report);
            let json = || {
                let (stored, page) = files()?;
                Ok((
                    merged(stored).map_err(|e| read::wrong(self.store.bucket, &place.json, e))?,
                    page,
                ))
            };
            let html = || Ok(files()?.0.map(|files| files.html()));
            count += writer.write_pair(place, new.uncached, report, json, html)?;
        }
        for (place, (names, uncached)) in &self.roots {
            let json = || {
                let (stored, page) = read::projects(self.store, place)?;
                let mut projects = stored.unwrap_or_default();
                let more = names.difference(&projects.0).count();
                projects.0.extend(names.iter().cloned());
                let json = projects.json();
                let json =
                    json.map_err(|e| read::wrong(self.store.bucket, &place.json, e.into()))?;
                Ok(((json, more), page))
            };
            let html = || Ok(read::projects(self.store, place)?.0.map(|p| p.html()));
            count += writer.write_pair(place, *uncached, report, json, html)?;
        }
        Ok(count)
    }

    pub(super) fn names(&self, root: &PageKeys) -> impl Iterator<Item = &String> {
        self.roots.get(root).into_iter().flat_map(|(names, _)| names)
    }

    fn pages_in<'p>(&'p self, order: &[&'p str]) -> Vec<&'p PageKeys> {
        let mut visited = BTreeSet::new();
        let places = order.iter().filter_map(|project| self.of_projects.get(project));
        places.filter(|place| visited.insert(*place)).collect()
    }
}
