//! Pages: read, merged, replaced by comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{Place, Placed};
use super::read::{Page, page};
use super::{PublishError, Step, headers, pause};
use crate::index::{Entry, Files, PageError, Projects, is_ours};
use crate::names::RelPath;
use crate::store::{Body, Bucket, Created, Replaced};

/// The pages that packages come onto.
pub(super) struct Pages<'a> {
    bucket: &'a dyn Bucket,
    /// By the project that asks for a page: on a flat shelf, one page for all.
    of_projects: BTreeMap<&'a str, Place>,
    new: BTreeMap<Place, New<'a>>,
    roots: BTreeMap<Place, (BTreeSet<String>, bool)>,
}

/// What comes onto a page.
struct New<'a> {
    title: &'a str,
    uncached: bool,
    entries: Vec<Entry>,
    /// What the page said when everything was looked at.
    there: Files,
}

impl<'a> Pages<'a> {
    /// Reads the pages that these packages come onto.
    ///
    /// # Errors
    /// When one is another program's, or cannot be merged.
    pub(super) fn new(
        bucket: &'a dyn Bucket,
        placed: &'a [Placed<'a>],
    ) -> Result<Self, PublishError> {
        let (mut of_projects, mut pages) = (BTreeMap::new(), BTreeMap::<Place, New<'_>>::new());
        let mut roots: BTreeMap<Place, (BTreeSet<String>, bool)> = BTreeMap::new();
        for one in placed {
            let (project, shelf) = (one.local.project.as_str(), one.shelf);
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
                there: Files::new(""),
            });
            new.entries.push(one.entry.clone());
        }
        let mut all = Self { bucket, of_projects, new: pages, roots };
        all.look()?;
        Ok(all)
    }

    fn look(&mut self) -> Result<(), PublishError> {
        let mut found = Vec::new();
        for (place, new) in &self.new {
            let there = self.files(place, new.title)?.0;
            if there.is_none() {
                self.not_without_data(place)?;
            }
            found.push(there.unwrap_or_else(|| Files::new(new.title)));
        }
        for (new, there) in self.new.values_mut().zip(found) {
            new.there = there;
        }
        for place in self.roots.keys() {
            if self.projects(place)?.0.is_none() {
                self.not_without_data(place)?;
            }
        }
        Ok(())
    }

    /// Where there is no data, the names on a page would be lost.
    fn not_without_data(&self, place: &Place) -> Result<(), PublishError> {
        let Place { json, html } = place;
        let is_empty = |page: &Page| is_ours(&page.bytes) && !has_links(&page.bytes);
        if page(self.bucket, html)?.as_ref().is_none_or(is_empty) {
            return Ok(());
        }
        let (store, page, data) = (self.bucket.name().to_owned(), html.clone(), json.clone());
        Err(PublishError::NoData { store, page, data })
    }

    /// The SHA-256 that a page says of a package.
    pub(super) fn told(&self, placed: &Placed<'_>) -> Option<String> {
        let page = self.new.get(self.of_projects.get(placed.local.project.as_str())?)?;
        let entry =
            page.there.files.iter().find(|entry| entry.filename == placed.local.file_name)?;
        entry.sha256().map(str::to_owned)
    }

    /// Says what [`Pages::write`] would do, and how many pages that is.
    pub(super) fn tell<'p>(&'p self, order: &[&'p str], told: &dyn Fn(&Step)) -> usize {
        let mut count = 0;
        for place in self.in_order(order) {
            let new = &self.new[place];
            let known: BTreeSet<&str> =
                new.there.files.iter().map(|entry| &*entry.filename).collect();
            let more = new.entries.iter().filter(|e| !known.contains(&*e.filename)).count();
            let mut merged = new.there.clone();
            if merged.merge(&new.entries).is_ok() && merged != new.there {
                told(&Step::Page { key: place.html.clone(), more });
                count += 2;
            }
        }
        for (place, (names, _)) in &self.roots {
            let there = self.projects(place).ok().and_then(|(there, _)| there).unwrap_or_default();
            let more = names.difference(&there.0).count();
            if more > 0 {
                told(&Step::Page { key: place.html.clone(), more });
                count += 2;
            }
        }
        count
    }

    /// Writes all pages, those of projects first, and says how many were not right yet.
    ///
    /// # Errors
    /// When the store fails, a page became another program's, or others change one all the time.
    pub(super) fn write<'p>(
        &'p self,
        order: &[&'p str],
        told: &dyn Fn(&Step),
    ) -> Result<usize, PublishError> {
        let mut written = 0;
        for place in self.in_order(order) {
            let new = &self.new[place];
            let merged = |there: Option<Files>| {
                let mut files = there.unwrap_or_else(|| Files::new(new.title));
                let before = files.files.len();
                files.merge(&new.entries)?;
                Ok((files.json()?, files.files.len() - before))
            };
            written += self.one(
                place,
                new.uncached,
                told,
                |pages| {
                    let (there, page) = pages.files(place, new.title)?;
                    Ok((merged(there).map_err(|e| pages.wrong(&place.json, e))?, page))
                },
                |pages| Ok(pages.files(place, new.title)?.0.map(|files| files.html())),
            )?;
        }
        for (place, (names, uncached)) in &self.roots {
            written += self.one(
                place,
                *uncached,
                told,
                |pages| {
                    let (there, page) = pages.projects(place)?;
                    let mut projects = there.unwrap_or_default();
                    let more = names.difference(&projects.0).count();
                    projects.0.extend(names.iter().cloned());
                    let json = projects.json().map_err(|e| pages.wrong(&place.json, e.into()))?;
                    Ok(((json, more), page))
                },
                |pages| Ok(pages.projects(place)?.0.map(|projects| projects.html())),
            )?;
        }
        Ok(written)
    }

    /// Writes both files of a page: `merged` reads the data anew and gives what it is to be, `html` the page
    /// of what it is now.
    fn one(
        &self,
        place: &Place,
        uncached: bool,
        told: &dyn Fn(&Step),
        merged: impl Fn(&Self) -> Result<((String, usize), Option<Page>), PublishError>,
        html: impl Fn(&Self) -> Result<Option<String>, PublishError>,
    ) -> Result<usize, PublishError> {
        let mut names = 0;
        let json = self.until_written(&place.json, uncached, |pages| {
            let ((text, more), page) = merged(pages)?;
            names = more;
            Ok((Some(text), page))
        })?;
        let html = self.until_written(&place.html, uncached, |pages| {
            // In this order: who has the older data then has the older tag as well.
            let page = page(pages.bucket, &place.html)?;
            Ok((html(pages)?, page))
        })?;
        if json || html {
            told(&Step::Page { key: place.html.clone(), more: names });
        }
        Ok(usize::from(json) + usize::from(html))
    }

    /// Puts at `key` what `wanted` says, which also tells what it found there; as often as others change it
    /// meanwhile. Says whether it had to be written.
    fn until_written(
        &self,
        key: &RelPath,
        uncached: bool,
        mut wanted: impl FnMut(&Self) -> Result<(Option<String>, Option<Page>), PublishError>,
    ) -> Result<bool, PublishError> {
        let headers = headers::page(key.file_name(), uncached);
        for number in 0..pause::TRIES {
            if number > 0 {
                pause::before(number);
            }
            let (Some(text), there) = wanted(self)? else { continue };
            let body = Body::Bytes(text.as_bytes());
            let is_done = match there {
                Some(page) if page.bytes == text.as_bytes() => return Ok(false),
                Some(page) => {
                    self.bucket.replace(&page.object, body, &headers)? == Replaced::Replaced
                }
                None => self.bucket.create(key, body, &headers)? == Created::Created,
            };
            if is_done {
                return Ok(true);
            }
        }
        let (store, key) = (self.bucket.name().to_owned(), key.clone());
        Err(PublishError::Contended { store, key, tries: pause::TRIES })
    }

    /// The pages of these projects, each once.
    fn in_order<'p>(&'p self, order: &[&'p str]) -> Vec<&'p Place> {
        let mut seen = BTreeSet::new();
        let places = order.iter().filter_map(|project| self.of_projects.get(project));
        places.filter(|place| seen.insert(*place)).collect()
    }

    fn files(
        &self,
        place: &Place,
        title: &str,
    ) -> Result<(Option<Files>, Option<Page>), PublishError> {
        let Some(page) = page(self.bucket, &place.json)? else { return Ok((None, None)) };
        let files = Files::parse(title, &page.bytes).map_err(|e| self.wrong(&place.json, e))?;
        Ok((Some(files), Some(page)))
    }

    /// Puts at `key` what `text` makes anew of other pages, and says whether it had to be written (1) or not (0).
    pub(super) fn remade(
        &self,
        key: &RelPath,
        told: &dyn Fn(&Step),
        text: impl Fn() -> Result<String, PublishError>,
    ) -> Result<usize, PublishError> {
        // In this order: who has older pages then has the older tag as well.
        let written = self.until_written(key, true, |pages| {
            let page = page(pages.bucket, key)?;
            Ok((Some(text()?), page))
        })?;
        if written {
            told(&Step::Page { key: key.clone(), more: 0 });
        }
        Ok(usize::from(written))
    }

    pub(super) fn projects(
        &self,
        place: &Place,
    ) -> Result<(Option<Projects>, Option<Page>), PublishError> {
        let Some(page) = page(self.bucket, &place.json)? else { return Ok((None, None)) };
        let projects = Projects::parse(&page.bytes).map_err(|e| self.wrong(&place.json, e))?;
        Ok((Some(projects), Some(page)))
    }

    pub(super) fn wrong(&self, key: &RelPath, source: PageError) -> PublishError {
        PublishError::Page { store: self.bucket.name().to_owned(), key: key.clone(), source }
    }
}

/// Whether there is a link on a page.
fn has_links(html: &[u8]) -> bool {
    html.windows(3).any(|window| window == b"<a ")
}
