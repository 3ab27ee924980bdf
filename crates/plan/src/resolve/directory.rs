//! Advice for patterns of rules that match only directories, though rules match files.

use base::names::RelPath;
use catalog::{CatalogEntry, EntryKind};
use manifest::Glob;

/// Directory that a pattern matches.
pub(super) struct Matched {
    path: RelPath,
    is_empty: bool,
}

/// Returns the first matching directory with files, or else the first empty one.
pub(super) fn matched<'e>(
    glob: &Glob,
    entries: impl Iterator<Item = &'e CatalogEntry>,
) -> Option<Matched> {
    let mut empty = None;
    for entry in entries {
        let is_directory = matches!(entry.kind, EntryKind::Directory);
        let mut above = std::iter::successors(entry.path.parent(), RelPath::parent);
        if let Some(path) = above.find(|path| !is_directory && glob.matches(path)) {
            return Some(Matched { path, is_empty: false });
        }
        if is_directory && empty.is_none() && glob.matches(&entry.path) {
            empty = Some(Matched { path: entry.path.clone(), is_empty: true });
        }
    }
    empty
}

/// Returns the label and the help of a rule without files; `otherwise` makes the label of a pattern
/// that matches no directory either.
pub(super) fn advice(
    directory: Option<Matched>,
    glob: &Glob,
    remedy: &str,
    otherwise: impl FnOnce() -> String,
) -> (String, String) {
    let below = format!("write \"{}/**\" for all files below it", glob.as_str());
    match directory {
        None => (otherwise(), remedy.to_owned()),
        Some(Matched { path, is_empty: true }) => {
            (format!("`{path}` is an empty directory; rules match only files"), remedy.to_owned())
        }
        Some(Matched { path, is_empty: false }) if path.as_str() == glob.as_str() => {
            ("this is a directory; rules match only files".to_owned(), below)
        }
        Some(Matched { path, is_empty: false }) => {
            (format!("only directories match, such as `{path}`; rules match only files"), below)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::catalog;

    #[test]
    fn prefers_the_first_directory_with_files() {
        let (d1, d2) = ("a_lib_generic d1 dir\n", "a_lib_generic d2 dir\n");
        let (f1, f2) = ("a_lib_generic d1/e/f text f\n", "a_lib_generic d2/f text f\n");
        let cases = [
            ("d?", vec![d1, d2], Some(("d1", true))),
            ("d?", vec![d1, d2, f2], Some(("d2", false))),
            ("d?", vec![f1, f2], Some(("d1", false))),
            ("d1/e", vec![f1], Some(("d1/e", false))),
            ("d1/e/f", vec![f1], None),
            ("d3", vec![d1, d2, f1], None),
        ];
        for (glob, entries, expected) in cases {
            let catalog = catalog(&entries.concat());
            let entries = catalog.artifacts.iter().flat_map(|a| &a.entries);
            let found = matched(&glob.parse().unwrap(), entries);
            let found = found.as_ref().map(|m| (m.path.as_str(), m.is_empty));
            assert_eq!(found, expected, "{glob}");
        }
    }
}
