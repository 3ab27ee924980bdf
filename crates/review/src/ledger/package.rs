use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::content::{Body, Member, each_of_sdist, each_of_wheel};
use super::facts::{self, Facts};
use base::hash::{Sha256, of_reader};
use base::names::Form;
use wheel::package::entry_points::EntryPoints;
use wheel::package::{Found, Metadata, PackageError, ReadError, Wheel};

/// Content of a package of any maker.
#[derive(Debug)]
pub struct Package {
    /// Family directory, if any, and distribution.
    pub(super) title: String,
    /// Distribution, as indexes compare it.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) form: Form,
    pub(super) facts: Facts,
    pub(super) files: BTreeMap<String, File>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum File {
    Bytes { sha256: Sha256, size: u64, executable: bool },
    Link(String),
}

/// Reads a wheel or sdist of any maker.
///
/// # Errors
/// If it cannot be read.
pub fn read(found: &Found) -> Result<Package, ReadError> {
    let package = match found.form {
        Form::Wheel => wheel(found),
        Form::Sdist => sdist(found),
    };
    package.map_err(|source| unreadable(&found.path, found.form, source))
}

pub(super) fn unreadable(path: &Path, form: Form, source: PackageError) -> ReadError {
    let what = if form == Form::Wheel { "wheel" } else { "sdist" };
    match source {
        PackageError::Wheel(error) => ReadError::Wheel(error),
        source => ReadError::Package { path: path.to_owned(), what, source },
    }
}

fn wheel(found: &Found) -> Result<Package, PackageError> {
    let wheel = Wheel::open(&found.path)?;
    let mut files = BTreeMap::new();
    each_of_wheel(&wheel, &|_| true, &mut |member| {
        let (path, file) = hashed(member)?;
        files.insert(path, file);
        Ok(())
    })?;
    let metadata = wheel.info("METADATA")?;
    let commands = wheel.text(&format!("{}/entry_points.txt", wheel.dist_info()))?;
    let commands = EntryPoints::parse(&commands.unwrap_or_default()).by_name();
    let facts = facts::facts(&metadata, Some(&wheel.info("WHEEL")?), commands);
    package(found, &metadata, facts, files)
}

fn sdist(found: &Found) -> Result<Package, PackageError> {
    let mut files = BTreeMap::new();
    let sdist = each_of_sdist(&found.path, &|_| true, &mut |member| {
        let (path, file) = hashed(member)?;
        files.insert(path, file);
        Ok(())
    })?;
    let metadata = sdist.pkg_info().ok_or(PackageError::NoPkgInfo)?;
    let commands = sdist.scripts().into_iter().map(|script| (script.name, script.object));
    let facts = facts::facts(metadata, None, commands.collect());
    package(found, metadata, facts, files)
}

fn package(
    found: &Found,
    metadata: &str,
    facts: Facts,
    files: BTreeMap<String, File>,
) -> Result<Package, PackageError> {
    let name = Metadata::parse(metadata).name()?.normalized();
    let family = found.directory.as_str().split_once('/').map(|(_, family)| format!("{family}/"));
    let title = family.unwrap_or_default() + &name;
    Ok(Package { title, name, path: found.path.clone(), form: found.form, facts, files })
}

fn hashed(member: Member<'_>) -> std::io::Result<(String, File)> {
    let Member { path, body, executable } = member;
    let file = match body {
        Body::Link(target) => File::Link(target),
        Body::Bytes(bytes, _) => {
            let sum = of_reader(bytes)?;
            File::Bytes { sha256: sum.sha256, size: sum.size, executable }
        }
    };
    Ok((path, file))
}
