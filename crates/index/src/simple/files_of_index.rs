use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fs_err as fs;

use super::attestation::ATTESTATIONS;
use super::{IndexError, RECORD, STATE};
use crate::patch::patched_package;
use base::directory::{Entry, walk_where};
use base::names::{Form, RelPath};
use wheel::archive::variants;

/// Endings of files about the package beside them.
const ENDINGS: [&str; 3] = ["yanked", ATTESTATIONS[0], ATTESTATIONS[1]];

#[derive(Debug, Default)]
pub(super) struct FilesOfIndex {
    pub(super) packages: Vec<RelPath>,
    pub(super) pages: Vec<RelPath>,
    pub(super) records: Vec<RelPath>,
    /// Yanks, attestations and patches.
    companions: Vec<RelPath>,
}

impl FilesOfIndex {
    /// Follows links to files, not to directories. Ignores hidden files: unfinished builds and
    /// index state.
    pub(super) fn below(dir: &Path) -> Result<Self, IndexError> {
        let mut files = Self::default();
        for entry in walk_where(dir, |entry| !entry.is_hidden()) {
            let unread = |source| IndexError::Read { path: dir.to_owned(), source };
            let entry = entry.map_err(unread)?;
            if let Some(list) = files.list_for(&entry).map_err(unread)? {
                let path = entry
                    .below()
                    .to_string_lossy()
                    .parse()
                    .map_err(|source| IndexError::Name { dir: dir.to_owned(), source })?;
                list.push(path);
            }
        }
        files.packages.sort();
        files.companions.sort();
        files.pages.sort();
        // A directory with state is a separate index; its pages stay.
        let is_own = |page: &RelPath| {
            !std::iter::successors(page.parent(), RelPath::parent)
                .any(|above| dir.join(above.as_str()).join(STATE).is_file())
        };
        files.pages.retain(is_own);
        files.records.retain(is_own);
        Ok(files)
    }

    pub(super) fn strays(self) -> Vec<RelPath> {
        let Self { packages, mut companions, .. } = self;
        companions.retain(|path| {
            !packages.iter().any(|package| owner(path.as_str()) == Some(package.as_str()))
        });
        companions
    }

    pub(super) fn patches(&self) -> BTreeMap<&str, Vec<&RelPath>> {
        let mut patches: BTreeMap<&str, Vec<&RelPath>> = BTreeMap::new();
        for path in &self.companions {
            if let Some(package) = patched_package(path.as_str()) {
                patches.entry(package).or_default().push(path);
            }
        }
        patches
    }

    fn list_for(&mut self, entry: &Entry) -> io::Result<Option<&mut Vec<RelPath>>> {
        let name = entry.name();
        let is_page = ["index.html", "index.json", RECORD].contains(&&*name);
        let list = match &*name {
            "index.html" | "index.json" => &mut self.pages,
            RECORD => &mut self.records,
            name if owner(name).is_some() => &mut self.companions,
            name if Form::of_file(name).is_some() || variants::of_file_name(name).is_some() => {
                &mut self.packages
            }
            _ => return Ok(None),
        };
        let is_file = if is_page { entry.path().is_file() } else { is_file(entry)? };
        Ok(is_file.then_some(list))
    }
}

/// Fails for a link to nothing, which would leave a package out without a message.
fn is_file(entry: &Entry) -> io::Result<bool> {
    if entry.file_type().is_symlink() {
        return Ok(fs::metadata(entry.path())?.is_file());
    }
    Ok(entry.file_type().is_file())
}

fn owner(name: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| strip_ending(name, ending)).or_else(|| patched_package(name))
}

fn strip_ending<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    name.strip_suffix(ending)?.strip_suffix('.')
}
