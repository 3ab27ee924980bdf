//! Paths of artifacts, one directory at a time.

use std::collections::BTreeSet;
use std::path::Path;

use catalog::{Catalog, EntryKind};
use clap_complete::engine::CompletionCandidate;

use super::{Line, beginning};

/// Largest catalogs to read, compressed and not: about 40,000 entries, which take 50 ms.
const LARGEST: (u64, u64) = (512 << 10, 8 << 20);

/// Paths for `explain`, below the root of the installation.
pub fn of_artifacts(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let directory = begin.rsplit_once('/').map(|(directory, _)| directory);
    let names = match (line.path("catalog"), line.path("artifact_dir")) {
        (Some(file), _) => names_in_catalog(file, directory.unwrap_or_default())?,
        (None, Some(dir)) => {
            catalog::names(dir, directory.map(str::parse).transpose().ok()?.as_ref())
        }
        (None, None) => return None,
    };
    let directory = directory.map(|directory| format!("{directory}/")).unwrap_or_default();
    Some(beginning(begin, names.iter().map(|name| (format!("{directory}{name}"), None))))
}

fn names_in_catalog(file: &Path, directory: &str) -> Option<BTreeSet<String>> {
    let is_plain = file.extension().is_some_and(|extension| extension == "json");
    let largest = if is_plain { LARGEST.1 } else { LARGEST.0 };
    if fs_err::metadata(file).ok()?.len() > largest {
        return None;
    }
    let catalog = Catalog::load(file).ok()?;
    let entries = catalog.artifacts.iter().flat_map(|artifact| &artifact.entries);
    let below = |path| match directory {
        "" => Some(path),
        directory => str::strip_prefix(path, directory)?.strip_prefix('/'),
    };
    let names = entries.filter_map(|entry| {
        let path = below(entry.path.as_str())?;
        match path.split_once('/') {
            Some((name, _)) => Some(format!("{name}/")),
            None if matches!(entry.kind, EntryKind::Directory) => Some(format!("{path}/")),
            None => Some(path.to_owned()),
        }
    });
    Some(names.collect())
}
