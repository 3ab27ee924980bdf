//! Names in one directory of all artifacts, without a scan.

use std::collections::BTreeSet;
use std::path::Path;

use super::layout;
use base::directory::{entries, names as names_in};
use base::names::RelPath;
use base::regular;
use base::source::Source;

/// Limit of a list of base directories in bytes, below the limit of a scan, because completions must be quick.
const LARGEST_LIST: u64 = 1 << 20;

/// Names of the entries at `directory` (by default the root of the installation) in all artifacts of
/// `dir`. Names of directories end with `/`. Skips archives, and everything unreadable because
/// completions print no errors.
pub fn names(dir: &Path, directory: Option<&RelPath>) -> BTreeSet<String> {
    let artifacts = names_in(dir).unwrap_or_default().into_iter();
    let artifacts = artifacts.filter(|name| layout::parse_child(name, true).is_ok());
    let directories = artifacts.flat_map(|artifact| {
        let artifact = dir.join(artifact);
        let bases = bases(&artifact).into_iter().map(move |base| artifact.join(base.as_str()));
        bases.map(|base| match directory {
            Some(directory) => base.join(directory.as_str()),
            None => base,
        })
    });
    let entries = directories.flat_map(|directory| entries(directory).unwrap_or_default());
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        Some(if is_directory { name + "/" } else { name })
    });
    names.collect()
}

fn bases(artifact: &Path) -> Vec<RelPath> {
    let text = regular::read_to_string(artifact.join(layout::MANIFEST), LARGEST_LIST);
    let bases = text.map(|text| layout::parse_bases(&Source::new(layout::MANIFEST, text)));
    bases.ok().and_then(Result::ok).unwrap_or_default()
}
