use base::names::RelPath;
use catalog::{CatalogEntry, EntryKind};
use manifest::Glob;

pub(super) struct Matched {
    path: RelPath,
    empty: bool,
}

pub(super) fn matched<'e>(
    glob: &Glob,
    entries: impl Iterator<Item = &'e CatalogEntry>,
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

pub(super) fn advice(
    directory: Option<Matched>,
    glob: &Glob,
    remedy: &str,
    otherwise: impl FnOnce() -> String,
) -> (String, String) {
    let below = format!("write \"{}/**\" for all files below it", glob.as_str());
    match directory {
        None => (otherwise(), remedy.to_owned()),
        Some(Matched { path, empty: true }) => {
            (format!("`{path}` is an empty directory; rules match only files"), remedy.to_owned())
        }
        Some(Matched { path, empty: false }) if path.as_str() == glob.as_str() => {
            ("this is a directory; rules match only files".to_owned(), below)
        }
        Some(Matched { path, empty: false }) => {
            (format!("only directories match, such as `{path}`; rules match only files"), below)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::catalog;

    #[test]
    fn the_first_directory_counts_and_rather_one_with_something_below() {
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
            let found = found.as_ref().map(|m| (m.path.as_str(), m.empty));
            assert_eq!(found, expected, "{glob}");
        }
    }
}
