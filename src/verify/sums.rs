//! `SHA256SUMS` beside packages, as sha256sum writes and reads it.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::Digest as _;

use super::Finding;
use crate::archive::checksum::Sha256;
use crate::regular;
use crate::source::Code;

/// What the list is called.
const FILE: &str = "SHA256SUMS";
/// No list is longer.
const LONGEST: u64 = 4 << 20;

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
            Some(row) => rows.push(row),
            None => findings.push(
                Finding::error(Code::ChecksumList, "a line is no checksum")
                    .because(format!("`{line}`")),
            ),
        }
    }
    Ok(Some(Beside { directory: directory.to_owned(), rows, findings }))
}

/// A hash, a space, a space or `*`, and the file's name.
fn row(line: &str) -> Option<(String, String)> {
    let (hash, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (is_hash && !name.is_empty()).then(|| (name.to_owned(), hash.to_ascii_lowercase()))
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
            return Ok(Some(list("a file of the list is not there").of(name)));
        }
        let found = hash_of(&path)?.to_string();
        Ok((found != *hash).then(|| list("the list has another hash").of(name)))
    }

    /// The rows that are none, and the files of `packages`, named from the list's directory, that have no row.
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

fn hash_of(path: &Path) -> io::Result<Sha256> {
    let (mut file, mut hash, mut block) =
        (regular::open(path)?, sha2::Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut block)? {
            0 => return Ok(<[u8; 32]>::from(hash.finalize()).into()),
            count => hash.update(&block[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_sha256sum_writes_them() {
        let hash = "0".repeat(64);
        assert_eq!(row(&format!("{hash}  a b.whl")), Some(("a b.whl".to_owned(), hash.clone())));
        assert_eq!(row(&format!("{hash} *a.whl")).unwrap().0, "a.whl");
        for wrong in
            ["", "a", &format!("{hash} a"), &format!("{}  a", &hash[1..]), &format!("{hash}  ")]
        {
            assert_eq!(row(wrong), None, "{wrong:?}");
        }
    }
}
