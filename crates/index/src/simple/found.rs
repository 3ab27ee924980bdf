//! What lies in the directory: packages, pages, metadata.

use std::path::Path;

use super::{IndexError, RECORD, STATE};
use base::directory::{Entry, walk_where};
use base::names::{Form, RelPath};
use wheel::archive::variants;

/// What the name of a file ends with that yanks the package of the rest of its name.
const YANKED: &str = ".yanked";

/// The files below a directory that an index has to do with, sorted by path.
#[derive(Debug, Default)]
pub(super) struct FilesOfIndex {
    /// Wheels and sdists, and files about wheel variants.
    pub(super) packages: Vec<RelPath>,
    /// What may be pages of an index.
    pub(super) pages: Vec<RelPath>,
    /// What may be the data of a flat page in a store.
    pub(super) records: Vec<RelPath>,
    /// What yanks the package beside it.
    pub(super) yanks: Vec<RelPath>,
}

impl FilesOfIndex {
    /// Looks through `dir`. Links to files count as files, links to directories are not followed, and
    /// what is hidden is not seen: builds in the making, and our own state.
    pub(super) fn below(dir: &Path) -> Result<Self, IndexError> {
        let mut found = Self::default();
        for entry in walk_where(dir, |entry| !entry.is_hidden()) {
            let entry =
                entry.map_err(|source| IndexError::Read { path: dir.to_owned(), source })?;
            if let Some(list) = found.list_for(&entry) {
                let path = entry
                    .below()
                    .to_string_lossy()
                    .parse()
                    .map_err(|source| IndexError::Name { dir: dir.to_owned(), source })?;
                list.push(path);
            }
        }
        found.packages.sort();
        found.pages.sort();
        // A directory that remembers packages has an index of its own, whose pages are not ours to remove.
        let is_own = |page: &RelPath| {
            !std::iter::successors(page.parent(), RelPath::parent)
                .any(|above| dir.join(above.as_str()).join(STATE).is_file())
        };
        found.pages.retain(is_own);
        found.records.retain(is_own);
        Ok(found)
    }

    /// Files that yank a package which is not beside them.
    pub(super) fn stray_yanks(self) -> Vec<RelPath> {
        let Self { packages, mut yanks, .. } = self;
        yanks.retain(|yank| {
            !packages.iter().any(|path| yank.as_str().strip_suffix(YANKED) == Some(path.as_str()))
        });
        yanks
    }

    fn list_for(&mut self, entry: &Entry) -> Option<&mut Vec<RelPath>> {
        let name = entry.name();
        let list = match &*name {
            "index.html" | "index.json" => &mut self.pages,
            RECORD => &mut self.records,
            name if name.ends_with(YANKED) => &mut self.yanks,
            name if Form::of_file(name).is_some() || variants::of_file_name(name).is_some() => {
                &mut self.packages
            }
            _ => return None,
        };
        entry.path().is_file().then_some(list)
    }
}
