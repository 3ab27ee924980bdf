//! Pages as data: what they said before, and what is added to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::entry::{IndexedFile, Yanked};
use super::link::link;
use super::{json, page};
use base::names::{RelPath, normalized};

/// The page of a project, or of all packages of a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// What the page is of: the project, or a title.
    pub name: String,
    /// What it names, in its order.
    pub files: Vec<IndexedFile>,
}

/// The page that leads to projects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Projects(pub BTreeSet<String>);

/// Why a page cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It is no page in JSON.
    #[error("it is not the JSON of one")]
    NoPage(#[from] serde_json::Error),
    /// A file name that stands for other bytes already.
    #[error("it names `{0}` with another SHA-256")]
    OtherBytes(String),
    /// A file name that stands for certain bytes already.
    #[error("it names `{0}` without a SHA-256")]
    NoHash(String),
    /// A name that no file has.
    #[error("it names `{0}`, which cannot be the name of a file")]
    FileName(String),
    /// A name that no project has.
    #[error("it names the project `{0}`, which cannot be the name of a project")]
    Name(String),
    /// A link that nothing in its place could say.
    #[error(
        "it links to `{0}`, which would vanish: only packages, or projects in directories beside it, are taken over"
    )]
    Link(String),
    /// Links that are relative to another place.
    #[error("its links are relative to `{0}` (`<base>`), and not to itself")]
    Base(String),
}

#[derive(Deserialize)]
struct AnyFiles {
    files: Vec<IndexedFile>,
}

#[derive(Deserialize)]
struct AnyProjects {
    projects: Vec<AnyProject>,
}

#[derive(Deserialize)]
struct AnyProject {
    name: String,
}

impl Files {
    /// A page that names nothing yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), files: Vec::new() }
    }

    /// Reads a page in JSON, whoever wrote it.
    ///
    /// # Errors
    /// When it is not a page of an index.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, PageError> {
        let files = entries(json)?;
        files.iter().try_for_each(named_well)?;
        Ok(Self { name: name.to_owned(), files })
    }

    /// Adds packages. What the page says of those that it has stays, upload time included, except that a package
    /// can become yanked, and that what it did not say is filled in.
    ///
    /// # Errors
    /// When a package has other bytes than the page says: then the page is as it was.
    pub fn merge(&mut self, new: &[IndexedFile]) -> Result<(), PageError> {
        let old = std::mem::take(&mut self.files);
        let mut files: BTreeMap<String, IndexedFile> =
            old.iter().map(|entry| (entry.filename.clone(), entry.clone())).collect();
        for entry in new {
            let there = files.entry(entry.filename.clone()).or_insert_with(|| entry.clone());
            if there.sha256().is_some_and(|there| Some(there) != entry.sha256()) {
                self.files = old;
                let (name, is_said) = (entry.filename.clone(), entry.sha256().is_some());
                let error = if is_said { PageError::OtherBytes } else { PageError::NoHash };
                return Err(error(name));
            }
            fill(there, entry);
        }
        self.files = files.into_values().collect();
        self.files.sort_by_cached_key(|entry| {
            let (project, version) = entry.project().unzip();
            let version = version.and_then(|v| v.as_str().parse::<pep440_rs::Version>().ok());
            (project, version, entry.filename.clone())
        });
        Ok(())
    }

    /// Says of packages, by file name, whether they are yanked.
    pub fn set_yanked(&mut self, yanked: &BTreeMap<String, Yanked>) {
        for file in &mut self.files {
            if let Some(yanked) = yanked.get(&file.filename) {
                file.yanked = yanked.clone();
            }
        }
    }

    /// The page as JSON.
    ///
    /// # Errors
    /// None that is known: texts and numbers can be written.
    pub fn json(&self) -> serde_json::Result<String> {
        let versions: Vec<_> = self.files.iter().filter_map(IndexedFile::project).collect();
        let mut seen = BTreeSet::new();
        let versions: Vec<&str> = versions
            .iter()
            .map(|(_, version)| version.as_str())
            .filter(|version| seen.insert(*version))
            .collect();
        json::project(&self.name, &versions, &self.files)
    }

    /// The page as HTML.
    pub fn html(&self) -> String {
        page::entries(&self.name, &self.files)
    }
}

/// What a page in JSON says of packages, whatever they are called.
pub(super) fn entries(json: &[u8]) -> serde_json::Result<Vec<IndexedFile>> {
    serde_json::from_slice(json).map(|AnyFiles { files }| files)
}

/// Refuses a package whose name leads to another directory, or is no line of text.
pub(super) fn named_well(entry: &IndexedFile) -> Result<(), PageError> {
    let name = entry.filename.as_str();
    let is_odd = |c: char| c.is_control() || ['/', '\\'].contains(&c);
    if ["", ".", ".."].contains(&name) || name.contains(is_odd) {
        return Err(PageError::FileName(name.to_owned()));
    }
    Ok(())
}

/// What a page did not say of a package and is known now.
fn fill(there: &mut IndexedFile, new: &IndexedFile) {
    if there.yanked.reason().is_none() {
        there.yanked = new.yanked.clone();
    }
    if there.sha256().is_none() {
        there.hashes.extend(new.hashes.clone());
    }
    there.size = there.size.or(new.size);
    let fill = |there: &mut Option<_>, new: &Option<_>| {
        if there.is_none() {
            there.clone_from(new);
        }
    };
    fill(&mut there.core_metadata, &new.core_metadata);
    fill(&mut there.dist_info_metadata, &new.dist_info_metadata);
    let fill = |there: &mut Option<_>, new: &Option<_>| {
        if there.is_none() {
            there.clone_from(new);
        }
    };
    fill(&mut there.upload_time, &new.upload_time);
    fill(&mut there.requires_python, &new.requires_python);
}

impl Projects {
    /// Reads a page in JSON, whoever wrote it.
    ///
    /// # Errors
    /// When it is not the list of an index, or names something that cannot be a project.
    pub fn parse(json: &[u8]) -> Result<Self, PageError> {
        let page: AnyProjects = serde_json::from_slice(json)?;
        let name =
            |project: AnyProject| normalized(&project.name).ok_or(PageError::Name(project.name));
        page.projects.into_iter().map(name).collect::<Result<_, _>>().map(Self)
    }

    /// The page as JSON.
    ///
    /// # Errors
    /// As [`Files::json`].
    pub fn json(&self) -> serde_json::Result<String> {
        json::root(self.0.iter().map(String::as_str))
    }

    /// The page as HTML, which has the pages of projects in directories beside it.
    pub fn html(&self) -> String {
        let pages = self.0.iter().map(|name| (format!("{name}/"), name.as_str()));
        page::links("Simple index", pages)
    }
}

/// Whether a page was made by this program, so that it may be replaced.
pub fn is_ours(page: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&page[..page.len().min(HEAD)]).into_owned();
    [page::MARK, json::MARK].iter().any(|mark| head.contains(mark))
}

/// How much of a page is looked at for the mark of its maker.
const HEAD: usize = 512;

/// The relative URL of a file from a page beside which, or below whose directory, it lies.
pub fn url(page: &RelPath, file: &RelPath) -> String {
    link(page, file)
}
