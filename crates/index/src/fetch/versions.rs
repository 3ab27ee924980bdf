//! Packages of one version on the pages of an index.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::pinned::place;
use crate::publish::{Listing, PublishError, listing, pages_of};
use crate::simple::IndexedFile;
use crate::store::{Bucket, StoreError, UrlOrigin};
use base::names::RelPath;
use base::source::Problem;
use base::version::Version;

/// Projects of an index whose pages are read; an index of everything has more.
const MOST_PROJECTS: usize = 2000;

/// Opens a store at an address, on any thread.
type Opener<'o> = &'o (dyn Fn(&str, UrlOrigin) -> Result<Box<dyn Bucket>, StoreError> + Sync);

/// An index, with the pages read so far.
pub struct Versions<'o> {
    source: Arc<dyn Bucket>,
    open: Opener<'o>,
    hosts: Mutex<BTreeMap<String, Arc<dyn Bucket>>>,
    listing: Listing,
}

/// A package on a page.
#[derive(Debug, Clone)]
pub struct VersionFile {
    /// File name.
    pub name: String,
    /// Normalized project.
    pub project: String,
    /// Store of the package.
    pub bucket: Arc<dyn Bucket>,
    /// Its key there.
    pub key: RelPath,
}

/// Reason for which the packages of a version are unknown.
#[derive(Debug, thiserror::Error)]
pub enum VersionsError {
    /// Unreadable page.
    #[error(transparent)]
    Page(#[from] PublishError),
    /// Unusable link.
    #[error("{}", .0.message())]
    Link(Box<Problem>),
    /// Large index.
    #[error("`{store}` has {projects} projects, more than {MOST_PROJECTS} are not read")]
    TooMany {
        /// Store.
        store: String,
        /// Number of projects.
        projects: usize,
    },
}

impl<'o> Versions<'o> {
    /// Reads the page of projects.
    ///
    /// # Errors
    /// If it cannot be read, or names too many projects.
    pub fn read(source: Arc<dyn Bucket>, open: Opener<'o>) -> Result<Self, VersionsError> {
        let listing = listing(&*source)?;
        if let Listing::Projects(projects) = &listing
            && projects.len() > MOST_PROJECTS
        {
            let (store, projects) = (source.name().to_owned(), projects.len());
            return Err(VersionsError::TooMany { store, projects });
        }
        Ok(Self { source, open, hosts: Mutex::default(), listing })
    }

    /// Projects on the page of the index.
    pub fn projects(&self) -> BTreeSet<String> {
        match &self.listing {
            Listing::Projects(projects) => projects.clone(),
            Listing::Packages(files) => {
                files.iter().filter_map(|file| Some(file.project()?.0)).collect()
            }
        }
    }

    /// Packages of a project in one version, and all its versions.
    ///
    /// # Errors
    /// For an unreadable page, or a link that leads nowhere.
    pub fn files(
        &self,
        project: &str,
        version: &Version,
    ) -> Result<(Vec<VersionFile>, BTreeSet<Version>), VersionsError> {
        let (page, files) = match &self.listing {
            Listing::Projects(_) => (project, pages_of(&*self.source, project)?),
            Listing::Packages(files) => ("", files.clone()),
        };
        let (mut matching, mut versions) = (Vec::new(), BTreeSet::new());
        for file in &files {
            let Some((name, released)) = file.project().filter(|(name, _)| name == project) else {
                continue;
            };
            if released.is_same(version) {
                matching.push(self.file(page, file, name)?);
            }
            versions.insert(released);
        }
        Ok((matching, versions))
    }

    fn file(
        &self,
        page: &str,
        file: &IndexedFile,
        project: String,
    ) -> Result<VersionFile, VersionsError> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let place = place(&self.source, self.open, &mut hosts, page, file);
        let (bucket, key) = place.map_err(|problem| VersionsError::Link(Box::new(problem)))?;
        Ok(VersionFile { name: file.filename.clone(), project, bucket, key })
    }
}
