use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::Finding;
use base::regular;
use base::source::Code;
use wheel::package::sums::{FILE, row};

const LONGEST: u64 = 4 << 20;

pub(super) const LOST: &str = "a listed file is missing";

/// Checksum list of a package directory.
#[derive(Debug)]
pub struct Beside {
    directory: PathBuf,
    rows: Vec<(String, String)>,
    findings: Vec<Finding>,
}

/// Reads the list of checksums; `None` without one.
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
                Finding::error(Code::ChecksumList, "a line is not a checksum")
                    .because(format!("`{line}`")),
            ),
        }
    }
    Ok(Some(Beside { directory: directory.to_owned(), rows, findings }))
}

impl Beside {
    /// Number of rows for [`Beside::check`].
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Checks the file of a row.
    pub fn check(&self, row: usize) -> io::Result<Option<Finding>> {
        let Some((name, hash)) = self.rows.get(row) else { return Ok(None) };
        let path = self.directory.join(name);
        if !path.is_file() {
            return Ok(Some(list(LOST).of(name)));
        }
        let digest = regular::sha256(&path)?;
        Ok((digest != *hash).then(|| list("wrong hash in the list").of(name)))
    }

    /// Malformed rows, and `packages` (relative to the list's directory) without a row.
    pub fn unlisted<'p>(&self, packages: impl IntoIterator<Item = &'p str>) -> Vec<Finding> {
        let listed: BTreeSet<&str> =
            self.rows.iter().map(|(name, _)| name.strip_prefix("./").unwrap_or(name)).collect();
        let absent = packages
            .into_iter()
            .filter(|name| !listed.contains(name))
            .map(|name| list("missing in the list").of(name));
        self.findings.iter().cloned().map(|finding| finding.within(FILE)).chain(absent).collect()
    }
}

fn list(what: &'static str) -> Finding {
    Finding::error(Code::ChecksumList, what).within(FILE)
}
