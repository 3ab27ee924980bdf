use std::collections::BTreeMap;

use super::facts::{Facts, facts};
use base::hash::{Sha256, Sum};
use base::names::Form;
use check::Kind;
use check::read::{self, Depth};
use wheel::package::{FoundPackage, ReadError};

/// Content of a package of any maker.
#[derive(Debug)]
pub struct Package {
    /// Family directory, if any, and distribution.
    pub(super) title: String,
    /// Distribution, as indexes compare it.
    pub(super) name: String,
    pub(super) found: FoundPackage,
    pub(super) facts: Facts,
    /// By the path that users see.
    pub(super) files: BTreeMap<String, File>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum File {
    Bytes { sum: Sum, executable: bool, member: String },
    Link(String),
}

impl Package {
    /// Name in the package of the file at a path, unless it is a link.
    pub(super) fn member(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            File::Bytes { member, .. } => Some(member),
            File::Link(_) => None,
        }
    }
}

impl File {
    /// Hash of the bytes by which a moved file is recognized: empty files are all alike.
    pub fn sha256(&self) -> Option<Sha256> {
        match self {
            Self::Bytes { sum, .. } if sum.size > 0 => Some(sum.sha256),
            Self::Bytes { .. } | Self::Link(_) => None,
        }
    }
}

/// Members of a wheel that facts describe, or that follow from the others.
const DESCRIBED: [&str; 4] = ["METADATA", "WHEEL", "RECORD", "entry_points.txt"];

/// Reads a wheel or sdist of any maker.
///
/// # Errors
/// If it cannot be read.
pub fn read(found: &FoundPackage) -> Result<Package, ReadError> {
    let package = read::package(found, Depth::Digests)?;
    let name = package.name.clone().unwrap_or_default();
    let family = found.directory.as_str().split_once('/').map(|(_, family)| format!("{family}/"));
    let title = family.unwrap_or_default() + &name;
    let facts = package.finished.get().map(|finished| facts(finished)).unwrap_or_default();
    let each = |it: &check::File<'_>| Some((path(&package, it)?, file(it)?));
    let files = package.files.iter().filter_map(each).collect();
    Ok(Package { title, name, found: found.clone(), facts, files })
}

fn file(file: &check::File<'_>) -> Option<File> {
    if let Kind::Link(target) = &file.kind {
        return Some(File::Link(target.to_string()));
    }
    let bytes = file.bytes.as_ref()?;
    let sum = Sum { sha256: *bytes.sha256.get()?, size: bytes.size };
    let (executable, member) = (file.is_executable(), file.member.to_string());
    Some(File::Bytes { sum, executable, member })
}

/// Path below site-packages, or below the top directory of an sdist. Directories with a version in their name are
/// `.dist-info` and `.data`.
fn path(package: &check::Package<'_>, file: &check::File<'_>) -> Option<String> {
    let member = &*file.member;
    if package.form == Form::Sdist {
        let (_, below) = member.split_once('/')?;
        return (below != "PKG-INFO").then(|| below.to_owned());
    }
    let info = package.info.as_deref().unwrap_or_default();
    if let Some(rest) = member.strip_prefix(info).and_then(|rest| rest.strip_prefix('/')) {
        return (!DESCRIBED.contains(&rest)).then(|| format!(".dist-info/{rest}"));
    }
    match member.split_once(".data/") {
        Some((_, rest)) if file.site_path().is_none() && file.is_installed() => {
            Some(format!(".data/{rest}"))
        }
        _ => Some(file.path().to_owned()),
    }
}
