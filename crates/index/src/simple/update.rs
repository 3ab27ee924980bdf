use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attestation::{ATTESTATIONS, PROVENANCE};
use super::files_of_index::FilesOfIndex;
use super::layout::Pages;
use super::link::encoded;
use super::package::Listed;
use super::publish::Publication;
use super::state::{STATE, Stamp, StampedPackage, State};
use super::yank::Yank;
use super::{IndexError, Layout, Options, Summary, copies, local, published, read};
use base::hash::Sha256;
use base::names::RelPath;
use base::regular;
use record::gate::Gate;
use record::recorded::Recorded;
use wheel::archive::{Stage, Timestamp};
use wheel::package::zip_file::LONGEST_TEXT;

pub(super) struct Update<'a> {
    dir: &'a Path,
    options: &'a Options,
    gate: Option<&'a Gate<'a>>,
    /// Begins with METADATA, and records without the packages to delete: renamed before any page.
    publication: Publication<'a>,
    /// Without the packages that were looked up; at the end, those that are gone.
    old: State,
    new: State,
    /// New and changed packages.
    read: Vec<PathBuf>,
    began: Stamp,
    summary: Summary,
}

impl<'a> Update<'a> {
    pub(super) fn begin(
        dir: &'a Path,
        options: &'a Options,
        gate: Option<&'a Gate<'a>>,
    ) -> Result<Self, IndexError> {
        if !dir.is_dir() {
            return Err(IndexError::NotADirectory { path: dir.to_owned() });
        }
        let stage = Stage::open(dir)?;
        let first = state_path(dir)?;
        stage.create(&first)?;
        let began = Stamp::read(&stage.path(&first))
            .map_err(|source| IndexError::Read { path: dir.to_owned(), source })?;
        let (old, new) = (State::load(dir), State::default());
        Ok(Self {
            dir,
            options,
            gate,
            publication: Publication::new(dir, stage, options.overwrite),
            old,
            new,
            read: Vec::new(),
            began,
            summary: Summary::default(),
        })
    }

    pub(super) fn run(mut self) -> Result<Summary, IndexError> {
        let files = FilesOfIndex::below(self.dir)?;
        if !self.options.overwrite {
            published::refuse(self.dir, &files)?;
        }
        let removed = self.removed(&files.packages)?;
        let mut listed = Vec::new();
        for path in files.packages.iter().filter(|path| !removed.contains(path)) {
            listed.extend(self.listed(path)?);
        }
        // Other layouts have a page for each directory.
        if self.options.layout == Layout::Simple {
            copies::share_facts(&mut listed)?;
        }
        let pages = Pages::new(self.options.layout, &listed)?;
        if let Some(gate) = self.gate {
            gate.check_set(self.read.iter().map(PathBuf::as_path))?;
        }
        self.summary.packages = listed.len();
        self.summary.projects =
            listed.iter().map(|file| &file.package.project).collect::<BTreeSet<_>>().len();
        for (path, text) in self.records_without(&removed)? {
            self.publication.write_changed(&path, |to| to.write_all(&text))?;
        }
        let to_delete = self.to_delete(&removed, &files)?;
        self.publish(&pages, &files.pages, to_delete)
    }

    fn records_without(&self, removed: &[RelPath]) -> Result<Vec<(RelPath, Vec<u8>)>, IndexError> {
        let above = |path: &RelPath| std::iter::successors(path.parent(), RelPath::parent);
        let mut directories: BTreeSet<String> =
            removed.iter().flat_map(above).map(|above| format!("{above}/")).collect();
        if !removed.is_empty() {
            directories.insert(String::new());
        }
        let mut records = Vec::new();
        for directory in directories {
            let recorded = Recorded::read_in(&self.dir.join(&directory))
                .map_err(|source| self.unreadable(source))?;
            let names = removed.iter().filter_map(|path| path.as_str().strip_prefix(&directory));
            for (name, text) in recorded.texts_without(&names.collect()) {
                let path = format!("{directory}{name}").parse();
                let path =
                    path.map_err(|source| IndexError::Name { dir: self.dir.to_owned(), source })?;
                records.push((path, text.into_bytes()));
            }
        }
        Ok(records)
    }

    fn removed(&self, packages: &[RelPath]) -> Result<Vec<RelPath>, IndexError> {
        let names: BTreeSet<&str> = packages.iter().map(RelPath::file_name).collect();
        match self.options.remove.iter().find(|name| !names.contains(name.as_str())) {
            Some(name) => Err(IndexError::NotThere { name: name.clone() }),
            None => Ok(packages
                .iter()
                .filter(|path| self.options.remove.contains(path.file_name()))
                .cloned()
                .collect()),
        }
    }

    fn listed(&mut self, path: &RelPath) -> Result<Option<Listed>, IndexError> {
        let Some(stamped) = self.read_package(path)? else { return Ok(None) };
        self.new.packages.insert(path.clone(), stamped.clone());
        let yank = Yank::beside(&self.place(path)).map_err(|source| self.unreadable(source))?;
        let provenance = self.provenance(path, &stamped.package.sha256)?;
        let newest = Timestamp::from_seconds(stamped.package.time).unwrap_or_default();
        Ok(Some(Listed {
            path: path.clone(),
            package: stamped.package,
            yank,
            provenance,
            time: self.options.time.unwrap_or(newest),
        }))
    }

    fn provenance(&mut self, path: &RelPath, sha256: &str) -> Result<Option<String>, IndexError> {
        let Some(object) = local::provenance(self.dir, path, sha256)? else { return Ok(None) };
        let place = companion(path, PROVENANCE)?;
        let public = self.options.public.as_ref();
        let url =
            public.map(|public| format!("{}/{}", public.trim_end_matches('/'), encoded(&place)));
        self.publication.write_changed(&place, |to| to.write_all(object.as_bytes()))?;
        self.summary.attested += 1;
        Ok(url)
    }

    fn read_package(&mut self, path: &RelPath) -> Result<Option<StampedPackage>, IndexError> {
        let stamp = Stamp::read(&self.place(path)).map_err(|source| self.unreadable(source))?;
        let remembered = self.old.packages.remove(path);
        let is_current =
            |old: &StampedPackage| old.stamp == Some(stamp) && self.has_metadata(path, old);
        if let Some(stamped) = remembered.filter(is_current) {
            return Ok(Some(stamped));
        }
        match read::package(&self.place(path)) {
            Ok((package, metadata)) => {
                self.summary.read += 1;
                self.read.push(self.place(path));
                if let Some(bytes) = metadata {
                    let place = companion(path, "metadata")?;
                    self.publication.write_changed(&place, |to| to.write_all(&bytes))?;
                }
                Ok(Some(StampedPackage {
                    stamp: stamp.is_before(&self.began).then_some(stamp),
                    package: Arc::new(package),
                }))
            }
            Err(source) if self.options.skip_broken => {
                self.summary.skipped.push((path.clone(), source));
                Ok(None)
            }
            Err(error) => Err(IndexError::of_package(self.dir, path, error)),
        }
    }

    fn has_metadata(&self, path: &RelPath, stamped: &StampedPackage) -> bool {
        let Some(hash) = &stamped.package.metadata else { return true };
        let place = companion(path, "metadata").map(|path| self.place(&path));
        place.is_ok_and(|place| {
            regular::read(place, LONGEST_TEXT)
                .is_ok_and(|bytes| Sha256::of(&bytes).to_string() == *hash)
        })
    }

    /// Packages last.
    fn to_delete(
        &self,
        removed: &[RelPath],
        files: &FilesOfIndex,
    ) -> Result<Vec<RelPath>, IndexError> {
        let (mut companions, patches) = (BTreeSet::new(), files.patches());
        let has_metadata = |(_, old): &(&RelPath, &StampedPackage)| old.package.metadata.is_some();
        for (path, _) in self.old.packages.iter().filter(has_metadata) {
            companions.insert(companion(path, "metadata")?);
        }
        for path in removed {
            for ending in ["metadata", "yanked", PROVENANCE].into_iter().chain(ATTESTATIONS) {
                companions.insert(companion(path, ending)?);
            }
            let patches = patches.get(path.as_str()).into_iter().flatten();
            companions.extend(patches.map(|patch| (*patch).clone()));
        }
        let existing = companions.into_iter().filter(|path| self.place(path).is_file());
        Ok(existing.chain(removed.iter().cloned()).collect())
    }

    fn publish(
        mut self,
        pages: &Pages<'_>,
        pages_before: &[RelPath],
        deleted: Vec<RelPath>,
    ) -> Result<Summary, IndexError> {
        let mut publication = self.publication;
        for (path, write) in &pages.pages {
            self.summary.pages += usize::from(publication.put_page(path, write)?);
        }
        let current: BTreeSet<&RelPath> = pages.pages.iter().map(|(path, _)| path).collect();
        let obsolete = publication.ours(pages_before.iter().filter(|path| !current.contains(path)));
        publication.fill(&state_path(self.dir)?, |file| self.new.write(file))?;
        self.summary.pages_removed = obsolete.len();
        publication.finish(&[obsolete, deleted.clone()].concat())?;
        self.summary.removed = deleted;
        self.summary.entries.clone_from(&pages.entries);
        Ok(self.summary)
    }

    fn place(&self, path: &RelPath) -> PathBuf {
        self.dir.join(path.as_str())
    }

    fn unreadable(&self, source: std::io::Error) -> IndexError {
        IndexError::Read { path: self.dir.to_owned(), source }
    }
}

fn state_path(dir: &Path) -> Result<RelPath, IndexError> {
    STATE.parse().map_err(|source| IndexError::Name { dir: dir.to_owned(), source })
}

fn companion(path: &RelPath, ending: &str) -> Result<RelPath, IndexError> {
    let name = format!("{}.{ending}", path.file_name());
    path.with_file_name(&name)
        .map_err(|source| IndexError::Name { dir: path.as_str().into(), source })
}
