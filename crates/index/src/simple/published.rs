//! Protection of published pages.

use std::path::Path;

use super::files_of_index::FilesOfIndex;
use super::publish::is_ours;
use super::{IndexError, STATE, document};
use base::names::RelPath;
use base::regular;

const LONGEST: u64 = 256 << 20;

pub(super) fn refuse(dir: &Path, files: &FilesOfIndex) -> Result<(), IndexError> {
    let is_remembered = dir.join(STATE).is_file();
    let data = files.pages.iter().filter(|page| page.file_name() == "index.json");
    let is_published = |page: &&RelPath| {
        let is_elsewhere = !is_place_of_index(page);
        is_elsewhere || (!is_remembered && names_beside(&dir.join(page.as_str())))
    };
    let mut published = files.records.iter().chain(data.filter(is_published));
    match published.find(|page| is_ours(&dir.join(page.as_str()))) {
        Some(page) => Err(IndexError::Published { path: page.clone() }),
        None => Ok(()),
    }
}

/// `simple/index.json` and `simple/{project}/index.json`, also in subdirectories.
fn is_place_of_index(page: &RelPath) -> bool {
    let above = std::iter::successors(page.parent(), RelPath::parent);
    above.take(2).any(|directory| directory.file_name() == "simple")
}

/// Pages of stores list packages in their directory.
fn names_beside(page: &Path) -> bool {
    let entries =
        regular::read(page, LONGEST).ok().and_then(|bytes| document::entries(&bytes).ok());
    entries.is_some_and(|entries| entries.iter().any(|entry| !entry.url.contains('/')))
}
