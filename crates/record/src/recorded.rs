//! Records in a destination: checksums and statements.
//!
//! A package is rockpack's if a statement has its current SHA-256. Other files are foreign: neither
//! removed nor listed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use fs_err as fs;

use crate::provenance::{self, Package, Statement};
use base::directory;
use base::names::{PathError, RelPath};
use base::regular;
use wheel::archive::stage::DIST;
use wheel::package::sums;

mod checked;
mod replace;
mod required;
mod whole;

pub use checked::{StatementFault, statement_faults};
pub use replace::{Earlier, Replaced, replace};
pub use whole::RecordError;

/// Enough for a hundred thousand packages.
const LARGEST: u64 = 32 << 20;

/// Records of earlier builds.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Hexadecimal SHA-256 by path below the destination.
    pub sums: BTreeMap<RelPath, String>,
    /// Statements, starting with the plain name.
    pub statements: Vec<Statement>,
    files: Vec<RelPath>,
}

/// Records of a destination after a build.
#[derive(Debug)]
pub struct Combined {
    /// Text of each record.
    pub texts: Vec<(RelPath, String)>,
    /// Earlier packages to remove.
    pub removed: Vec<RelPath>,
    /// Records to remove.
    pub obsolete: Vec<RelPath>,
    /// Modified packages: kept, but not listed.
    pub changed: Vec<RelPath>,
}

impl Recorded {
    /// Reads the records in `dest`. Ignores unreadable and foreign ones.
    pub fn read(dest: &Path) -> io::Result<Self> {
        Self::read_in(&dest.join(DIST))
    }

    /// A record that is not written yet.
    pub fn unwritten(sums: BTreeMap<RelPath, String>, statement: Statement) -> Self {
        Self { sums, statements: vec![statement], files: Vec::new() }
    }

    /// Reads the records in `dist`, which can have another name.
    pub fn read_in(dist: &Path) -> io::Result<Self> {
        let mut recorded = Self::default();
        let sums = dist.join(provenance::SUMS);
        if let Ok(text) = regular::read_to_string(&sums, LARGEST) {
            recorded.sums = text.lines().filter_map(line).collect();
        }
        for file in statement_files(dist)? {
            let text = regular::read_to_string(dist.join(file.file_name()), LARGEST);
            if let Some(statement) = text.ok().and_then(|text| Statement::read(&text).ok()) {
                recorded.statements.push(statement);
                recorded.files.push(file);
            }
        }
        Ok(recorded)
    }

    /// Paths below the destination, hexadecimal SHA-256.
    pub fn packages(&self) -> impl Iterator<Item = (RelPath, &str)> {
        let subjects = self.statements.iter().flat_map(Statement::subjects);
        subjects.filter_map(|(name, sha256)| Some((in_dist(name).ok()?, sha256)))
    }

    /// Combines new packages, described by `statements`, with recorded ones, except the recorded
    /// ones for which `is_removed` returns true. Hashes only files that `hashed` lacks.
    pub fn combine(
        self,
        dest: &Path,
        made: &[Package<'_>],
        hashed: &[Package<'_>],
        statements: Vec<Statement>,
        is_removed: impl Fn(&RelPath) -> bool,
    ) -> io::Result<Combined> {
        let sha256_by_path: BTreeMap<&RelPath, &str> =
            hashed.iter().map(|package| (package.path, package.sha256)).collect();
        let is_made = |path: &RelPath| made.iter().any(|package| package.path == path);
        let mut listed = BTreeMap::new();
        let (mut removed, mut changed) = (Vec::new(), Vec::new());
        for (path, is_package) in self.paths().into_iter().filter(|(path, _)| !is_made(path)) {
            let hash = match sha256_by_path.get(&path) {
                Some(hash) => Some((*hash).to_owned()),
                None => hash_of(&dest.join(path.as_str()))?,
            };
            let Some(hash) = hash else { continue };
            let is_ours = self.packages().any(|package| package == (path.clone(), &*hash));
            if is_ours && is_removed(&path) {
                removed.push(path);
            } else if is_ours || self.sums.get(&path) == Some(&hash) {
                listed.insert(path, hash);
            } else if is_package {
                changed.push(path);
            }
        }
        let stays = |name: &str, hash: &str| {
            in_dist(name).is_ok_and(|path| listed.get(&path).is_some_and(|listed| listed == hash))
        };
        let earlier = self.statements.into_iter().map(|earlier| earlier.restricted(stays));
        let statements = united(statements.into_iter().chain(earlier));
        let listed = listed.iter().map(|(path, sha256)| Package { path, sha256 });
        let packages: Vec<Package<'_>> = made.iter().copied().chain(listed).collect();
        // Records without a package would make foreign files beside them unlisted.
        let texts =
            if packages.is_empty() { Ok(Vec::new()) } else { texts(&packages, &statements) };
        let texts = texts.map_err(io::Error::other)?;
        let is_text = |path: &RelPath| texts.iter().any(|(text_path, _)| text_path == path);
        let sums = provenance::sums_path().map_err(io::Error::other)?;
        let sums = Some(sums).filter(|path| dest.join(path.as_str()).is_file());
        let records = self.files.into_iter().chain(sums);
        let obsolete = records.filter(|file| !is_text(file)).collect();
        Ok(Combined { texts, removed, obsolete, changed })
    }

    /// Names, below the directory of [`Recorded::read_in`], and new texts of records that name
    /// files of `removed`.
    pub fn texts_without(&self, removed: &BTreeSet<&str>) -> Vec<(String, String)> {
        let is_removed = |path: &RelPath| removed.contains(below_dist(path));
        let stays = |name: &str| !in_dist(name).is_ok_and(|path| is_removed(&path));
        let mut texts = Vec::new();
        for (file, statement) in self.files.iter().zip(&self.statements) {
            if !statement.subjects().all(|(name, _)| stays(name)) {
                let rest = statement.clone().restricted(|name, _| stays(name));
                texts.push((below_dist(file).to_owned(), rest.to_json()));
            }
        }
        if self.sums.keys().any(is_removed) {
            let rest = self.sums.iter().filter(|(path, _)| !is_removed(path));
            let rest: Vec<_> = rest.map(|(path, sha256)| Package { path, sha256 }).collect();
            texts.push((provenance::SUMS.to_owned(), provenance::sha256sums(&rest)));
        }
        texts
    }

    fn paths(&self) -> BTreeMap<RelPath, bool> {
        let sums = self.sums.keys().map(|path| (path.clone(), false));
        sums.chain(self.packages().map(|(path, _)| (path, true))).collect()
    }
}

/// Statements and checksums, with paths.
pub fn texts(
    packages: &[Package<'_>],
    statements: &[Statement],
) -> Result<Vec<(RelPath, String)>, PathError> {
    let statements = statements
        .iter()
        .enumerate()
        .map(|(index, statement)| Ok((provenance::statement_path(index)?, statement.to_json())));
    // The checksums are last, when all listed files exist.
    let sums = [Ok((provenance::sums_path()?, provenance::sha256sums(packages)))];
    statements.chain(sums).collect()
}

/// Unites statements into as few as possible, without empty ones.
pub fn united(statements: impl IntoIterator<Item = Statement>) -> Vec<Statement> {
    let mut united: Vec<Statement> = Vec::new();
    for statement in statements {
        if !united.is_empty() && statement.subjects().next().is_none() {
            continue;
        }
        let rest = united.iter_mut().try_fold(statement, |statement, earlier| {
            // `Err` ends the search after a union.
            match earlier.unite(statement) {
                Ok(()) => Err(()),
                Err(back) => Ok(*back),
            }
        });
        united.extend(rest);
    }
    if united.len() > 1 && united[0].subjects().next().is_none() {
        united.remove(0);
    }
    united
}

fn statement_files(dist: &Path) -> io::Result<Vec<RelPath>> {
    let names = match directory::names(dist) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        names => names?,
    };
    let statements = names.iter().filter(|name| provenance::is_statement(name));
    let mut files: Vec<RelPath> = statements.filter_map(|name| in_dist(name).ok()).collect();
    let plain = |path: &RelPath| path.file_name() != provenance::STATEMENT;
    files.sort_by_key(|path| (plain(path), path.as_str().len(), path.clone()));
    Ok(files)
}

/// Hexadecimal SHA-256 of a regular file; `None` if it does not exist or is something else.
pub fn hash_of(path: &Path) -> io::Result<Option<String>> {
    let metadata = fs::symlink_metadata(path);
    if metadata.is_ok_and(|metadata| metadata.is_file()) {
        regular::sha256(path).map(Some)
    } else {
        Ok(None)
    }
}

fn line(text: &str) -> Option<(RelPath, String)> {
    let (name, hash) = sums::row(text)?;
    Some((in_dist(name.strip_prefix("./").unwrap_or(name)).ok()?, hash))
}

fn below_dist(path: &RelPath) -> &str {
    path.as_str().strip_prefix(DIST).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default()
}

fn in_dist(name: &str) -> Result<RelPath, PathError> {
    format!("{DIST}/{name}").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_recorded_packages_gets_no_record() {
        let dest = tempfile::tempdir().unwrap();
        fs::create_dir(dest.path().join(DIST)).unwrap();
        fs::write(dest.path().join(DIST).join("kept-1.0-py3-none-any.whl"), "foreign").unwrap();
        let combined = || Recorded::default().combine(dest.path(), &[], &[], Vec::new(), |_| true);
        let Combined { texts, obsolete, .. } = combined().unwrap();
        assert!(texts.is_empty() && obsolete.is_empty());
        fs::write(dest.path().join(DIST).join(provenance::SUMS), "").unwrap();
        assert_eq!(combined().unwrap().obsolete, [provenance::sums_path().unwrap()]);
    }
}
