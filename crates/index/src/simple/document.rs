//! Pages as data, for merging.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::attestation::PROVENANCE;
use super::entry::{IndexedFile, Yanked};
use super::link::link;
use super::{json, page};
use base::address::Address;
use base::names::{RelPath, normalized};

/// Page of a project, or flat page of a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// Project, or title of a flat page.
    pub name: String,
    /// Files in page order.
    pub files: Vec<IndexedFile>,
}

/// Page that links to the pages of projects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Projects(pub BTreeSet<String>);

/// Reason for refusing a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Not a JSON page.
    #[error("it is not JSON of an index page")]
    NoPage(#[from] serde_json::Error),
    /// File with another SHA-256.
    #[error("it names `{0}` with another SHA-256")]
    OtherBytes(String),
    /// Known file without a SHA-256.
    #[error("it names `{0}` without a SHA-256")]
    NoHash(String),
    /// Invalid file name.
    #[error("it contains the invalid file name `{0}`")]
    FileName(String),
    /// Invalid project name.
    #[error("it contains the invalid project name `{0}`")]
    Name(String),
    /// Link that data cannot express.
    #[error(
        "it links to `{0}`, which would be lost: only links to packages and to directories of projects are kept"
    )]
    Link(Address),
    /// Page of a later API.
    #[error("it has version {0} of the API; versions before 2 are known")]
    Version(String),
    /// Address that a copied page must not have.
    #[error(
        "the address `{0}` is not https:// or http://, or has a user, spaces or control characters"
    )]
    Address(Address),
    /// Links relative to a base address.
    #[error("its links are relative to `{0}` (`<base>`), not to the page")]
    Base(Address),
    /// Value of another form than the specification's.
    #[error("its entry `{file}` has an invalid value: {key}")]
    Value {
        /// File.
        file: String,
        /// Key of the value.
        key: &'static str,
    },
    /// More links or values than a page of an index has.
    #[error("it has more than {0} {1}")]
    Long(usize, &'static str),
}

#[derive(Deserialize)]
struct AnyFiles {
    meta: Option<Meta>,
    files: Vec<IndexedFile>,
}

#[derive(Deserialize)]
struct AnyProjects {
    meta: Option<Meta>,
    projects: Vec<AnyProject>,
}

#[derive(Deserialize)]
struct AnyProject {
    name: String,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "api-version")]
    version: Option<String>,
}

/// Rejects a later major version, as PEP 629 and PEP 691 require.
pub(super) fn check_version(version: Option<String>) -> Result<(), PageError> {
    let is_known =
        |version: &str| ["0", "1"].contains(&version.split('.').next().unwrap_or("").trim());
    match version.filter(|version| !is_known(version)) {
        Some(version) => Err(PageError::Version(version)),
        None => Ok(()),
    }
}

impl Files {
    /// Empty page.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), files: Vec::new() }
    }

    /// Parses a JSON page of any program.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, PageError> {
        Ok(Self { name: name.to_owned(), files: entries(json)? })
    }

    /// Adds packages. Existing entries keep their facts and get missing ones and yanks. A different
    /// SHA-256 is an error.
    pub fn merge(&mut self, new: &[IndexedFile]) -> Result<(), PageError> {
        let old = std::mem::take(&mut self.files);
        let mut files: BTreeMap<String, IndexedFile> =
            old.iter().map(|entry| (entry.filename.clone(), entry.clone())).collect();
        for entry in new {
            let existing = files.entry(entry.filename.clone()).or_insert_with(|| entry.clone());
            if existing.sha256().is_some_and(|hash| Some(hash) != entry.sha256()) {
                self.files = old;
                let (name, is_said) = (entry.filename.clone(), entry.sha256().is_some());
                let error = if is_said { PageError::OtherBytes } else { PageError::NoHash };
                return Err(error(name));
            }
            fill(existing, entry);
        }
        self.files = files.into_values().collect();
        self.files.sort_by_cached_key(|entry| {
            let (project, version) = entry.project().unzip();
            let version = version.and_then(|v| v.as_str().parse::<pep440_rs::Version>().ok());
            (project, version, entry.filename.clone())
        });
        Ok(())
    }

    pub(crate) fn set_yanked(&mut self, yanked: &BTreeMap<String, Yanked>) {
        for file in &mut self.files {
            if let Some(yanked) = yanked.get(&file.filename) {
                file.yanked = yanked.clone();
            }
        }
    }

    /// Renders JSON; never fails for strings and numbers.
    pub fn json(&self) -> serde_json::Result<String> {
        let versions: Vec<_> = self.files.iter().filter_map(IndexedFile::project).collect();
        let mut listed = BTreeSet::new();
        let versions: Vec<&str> = versions
            .iter()
            .map(|(_, version)| version.as_str())
            .filter(|version| listed.insert(*version))
            .collect();
        let has_provenance = self.has_provenance();
        json::line(&json::project(&self.name, &versions, has_provenance, self.files.iter()))
    }

    /// Renders HTML.
    pub fn html(&self) -> String {
        page::entries(&self.name, self.has_provenance(), &self.files)
    }

    fn has_provenance(&self) -> bool {
        self.files.iter().any(|file| file.provenance().is_some())
    }
}

/// Signs between the values of a page, for 80,000 files: each value can need 64 bytes of memory.
const MOST_VALUES: usize = 2_000_000;

pub(super) fn entries(json: &[u8]) -> Result<Vec<IndexedFile>, PageError> {
    if json.iter().filter(|byte| b",:[{".contains(byte)).count() > MOST_VALUES {
        return Err(PageError::Long(MOST_VALUES, "values"));
    }
    let AnyFiles { meta, files } = serde_json::from_slice(json)?;
    check_version(meta.and_then(|meta| meta.version))?;
    check(&files)?;
    Ok(files)
}

/// Checks names and values, and that no name has two hashes.
pub(super) fn check(files: &[IndexedFile]) -> Result<(), PageError> {
    let mut hashes = BTreeMap::new();
    for file in files {
        named_well(file)?;
        let value = |key| PageError::Value { file: file.filename.clone(), key };
        file.wrong_value().map_or(Ok(()), |key| Err(value(key)))?;
        let sha256 = file.sha256();
        let first = *hashes.entry(&file.filename).or_insert(sha256);
        if first != sha256 {
            return Err(PageError::OtherBytes(file.filename.clone()));
        }
    }
    Ok(())
}

fn named_well(entry: &IndexedFile) -> Result<(), PageError> {
    let name = entry.filename.as_str();
    let is_odd = |c: char| c.is_control() || ['/', '\\'].contains(&c);
    if ["", ".", ".."].contains(&name) || name.contains(is_odd) {
        return Err(PageError::FileName(name.to_owned()));
    }
    Ok(())
}

fn fill(entry: &mut IndexedFile, new: &IndexedFile) {
    if entry.yanked.reason().is_none() {
        entry.yanked = new.yanked.clone();
    }
    if entry.sha256().is_none() {
        entry.hashes.extend(new.hashes.clone());
    }
    entry.size = entry.size.or(new.size);
    let fill = |field: &mut Option<_>, new: &Option<_>| {
        if field.is_none() {
            field.clone_from(new);
        }
    };
    fill(&mut entry.core_metadata, &new.core_metadata);
    fill(&mut entry.dist_info_metadata, &new.dist_info_metadata);
    let fill = |field: &mut Option<_>, new: &Option<_>| {
        if field.is_none() {
            field.clone_from(new);
        }
    };
    fill(&mut entry.upload_time, &new.upload_time);
    fill(&mut entry.requires_python, &new.requires_python);
    if let Some(url) = new.provenance().filter(|_| entry.provenance().is_none()) {
        entry.extra.insert(PROVENANCE.to_owned(), url.into());
    }
}

impl Projects {
    /// Parses a JSON page of any program.
    ///
    /// # Errors
    ///
    /// Fails for other JSON, and for an invalid name.
    pub fn parse(json: &[u8]) -> Result<Self, PageError> {
        let page: AnyProjects = serde_json::from_slice(json)?;
        check_version(page.meta.and_then(|meta| meta.version))?;
        let name =
            |project: AnyProject| normalized(&project.name).ok_or(PageError::Name(project.name));
        page.projects.into_iter().map(name).collect::<Result<_, _>>().map(Self)
    }

    /// Renders JSON, like [`Files::json`].
    pub fn json(&self) -> serde_json::Result<String> {
        json::root(self.0.iter().map(String::as_str))
    }

    /// Renders HTML with links to `{project}/`.
    pub fn html(&self) -> String {
        let pages = self.0.iter().map(|name| (format!("{name}/"), name.as_str()));
        page::links("Simple index", pages)
    }
}

/// Returns true for a replaceable page of this program.
pub fn is_ours(page: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&page[..page.len().min(HEAD)]).into_owned();
    [page::MARK, json::MARK].iter().any(|mark| head.contains(mark))
}

/// Bytes of a page that can contain the mark of its maker.
pub(super) const HEAD: usize = 512;

/// Relative URL of a file at or below the page.
pub fn url(page: &RelPath, file: &RelPath) -> String {
    link(page, file)
}
