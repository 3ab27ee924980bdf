//! Rules over paths that match directories alone: rules are over files and links, and what is
//! meant is most likely all that is below.

use crate::catalog::{Entry, EntryKind};
use crate::manifest::Glob;
use crate::names::RelPath;

/// A directory that a glob matches.
pub(super) struct Matched {
    path: RelPath,
    /// Nothing is below it.
    empty: bool,
}

/// The first directory among `entries`, or above one of them, that `glob` matches; rather one that
/// something is below.
pub(super) fn matched<'e>(
    glob: &Glob,
    entries: impl Iterator<Item = &'e Entry>,
) -> Option<Matched> {
    let mut empty = None;
    for entry in entries {
        let is_directory = matches!(entry.kind, EntryKind::Directory);
        let mut above = std::iter::successors(entry.path.parent(), RelPath::parent);
        if let Some(path) = above.find(|path| !is_directory && glob.matches(path)) {
            return Some(Matched { path, empty: false });
        }
        if is_directory && empty.is_none() && glob.matches(&entry.path) {
            empty = Some(Matched { path: entry.path.clone(), empty: true });
        }
    }
    empty
}

/// The label and the remedy for a rule that matches no file: `otherwise` and `remedy` where it
/// matches no directory either.
pub(super) fn told(
    directory: Option<Matched>,
    glob: &Glob,
    remedy: &str,
    otherwise: impl FnOnce() -> String,
) -> (String, String) {
    let below = format!("write \"{}/**\" for all that is below it", glob.as_str());
    match directory {
        None => (otherwise(), remedy.to_owned()),
        Some(Matched { path, empty: true }) => {
            (format!("`{path}` is an empty directory, and rules are over files"), remedy.to_owned())
        }
        Some(Matched { path, empty: false }) if path.as_str() == glob.as_str() => {
            ("this is a directory, and rules are over files".to_owned(), below)
        }
        Some(Matched { path, empty: false }) => {
            (format!("only directories match, such as `{path}`, and rules are over files"), below)
        }
    }
}
