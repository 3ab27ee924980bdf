//! `SHA256SUMS` beside packages, as sha256sum writes and reads it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::Finding;
use crate::package::sums::{FILE, row};
use base::regular;
use base::source::Code;

/// No list is longer.
const LONGEST: u64 = 4 << 20;

/// What is said of a file that the list has and the directory has not.
pub(super) const LOST: &str = "a file of the list is not there";

/// The list in a directory of packages.
#[derive(Debug)]
pub struct Beside {
    directory: PathBuf,
    rows: Vec<(String, String)>,
    findings: Vec<Finding>,
}

/// Reads the list in `directory`, if there is one.
///
/// # Errors
/// When it is there and cannot be read.
pub fn beside(directory: &Path) -> io::Result<Option<Beside>> {
    let path = directory.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let text = regular::read_to_string(&path, LONGEST)?;
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match row(line) {
            Some((name, hash)) => rows.push((name.to_owned(), hash)),
            None => findings.push(
                Finding::error(Code::ChecksumList, "a line is no checksum")
                    .because(format!("`{line}`")),
            ),
        }
    }
    Ok(Some(Beside { directory: directory.to_owned(), rows, findings }))
}

impl Beside {
    /// How many rows there are, each of which [`Beside::check`] looks at.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Compares the file of one row.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn check(&self, row: usize) -> io::Result<Option<Finding>> {
        let Some((name, hash)) = self.rows.get(row) else { return Ok(None) };
        let path = self.directory.join(name);
        if !path.is_file() {
            return Ok(Some(list(LOST).of(name)));
        }
        let found = regular::sha256(&path)?;
        Ok((found != *hash).then(|| list("the list has another hash").of(name)))
    }

    /// The malformed rows, and the files of `packages`, named from the list's directory, that have no row.
    pub fn unlisted<'p>(&self, packages: impl IntoIterator<Item = &'p str>) -> Vec<Finding> {
        let listed: BTreeSet<&str> =
            self.rows.iter().map(|(name, _)| name.strip_prefix("./").unwrap_or(name)).collect();
        let absent = packages
            .into_iter()
            .filter(|name| !listed.contains(name))
            .map(|name| list("not in the list").of(name));
        self.findings.iter().cloned().map(|finding| finding.within(FILE)).chain(absent).collect()
    }
}

fn list(what: &'static str) -> Finding {
    Finding::error(Code::ChecksumList, what).within(FILE)
}
