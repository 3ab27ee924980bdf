//! Yanks and provenance beside equal packages, of which a page has one.

use std::collections::BTreeMap;

use super::IndexError;
use super::package::Listed;
use super::yank::Yank;
use base::names::RelPath;

/// Gives equal packages the yank and the provenance of all.
pub(super) fn share_facts(files: &mut [Listed]) -> Result<(), IndexError> {
    let key = |file: &Listed| (file.path.file_name().to_owned(), file.package.sha256.clone());
    let mut facts: BTreeMap<_, (Option<Yank>, Option<String>)> = BTreeMap::new();
    for file in files.iter() {
        let (yank, provenance) = facts.entry(key(file)).or_default();
        add_yank(yank, file.yank.clone(), &file.path)?;
        *provenance = provenance.take().or_else(|| file.provenance.clone());
    }
    for file in files {
        (file.yank, file.provenance) = facts[&key(file)].clone();
    }
    Ok(())
}

/// Adds the yank of the equal package at `path`.
pub(super) fn add_yank(
    yank: &mut Option<Yank>,
    other: Option<Yank>,
    path: &RelPath,
) -> Result<(), IndexError> {
    match (&yank, other) {
        (Some(yank), Some(other)) if *yank != other => {
            Err(IndexError::YankClash { path: path.clone() })
        }
        (None, other) => {
            *yank = other;
            Ok(())
        }
        (Some(_), _) => Ok(()),
    }
}
