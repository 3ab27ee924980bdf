//! Reader that rejects packages with faults of the archive.

use std::io;
use std::path::Path;

use super::archived;
use super::content::FactRequest;
use super::depth::{Depth, is_outlined};
use super::metadata::Rules;
use super::texts::Texts;
use super::wheel::Wheel;
use crate::{Finished, Known, Package, Scheme};
use base::names::Form;
use wheel::package::entry_points::EntryPoints;
use wheel::package::{
    Fault, FoundPackage, Header, Metadata, OpenError, PackageError, ReadError, Sdist, WheelFile,
};

/// Reads a wheel or sdist without a comparison with RECORD. Findings name its file relative to the
/// directory of packages.
///
/// # Errors
/// For a fault of the archive, and for metadata without a name or version.
pub fn package(found: &FoundPackage, depth: Depth) -> Result<Package<'static>, ReadError> {
    let file = found.path.file_name().unwrap_or_default().to_string_lossy();
    let file = format!("{}/{file}", found.directory);
    let read = match found.form {
        Form::Wheel => wheel(&found.path, &file, depth).map_err(PackageError::from),
        Form::Sdist => sdist(&found.path, &file, depth),
    };
    let named = |package: Package<'static>| {
        if let Some(finished) = package.finished.get() {
            finished.metadata.name()?;
            finished.metadata.version()?;
        }
        Ok(package)
    };
    read.and_then(named).map_err(|source| unreadable(found, source))
}

pub(super) fn unreadable(found: &FoundPackage, source: PackageError) -> ReadError {
    let kind = if found.form == Form::Wheel { "wheel" } else { "sdist" };
    let source = match source {
        PackageError::Wheel(OpenError::Zip { reason, .. }) => PackageError::Zip(reason),
        PackageError::Wheel(error) => return ReadError::Wheel(error),
        source => source,
    };
    ReadError::Package { path: found.path.clone(), what: kind, source }
}

/// Reads the facts of a wheel that rules need.
///
/// # Errors
/// For a fault of the archive.
pub fn facts(path: &Path) -> Result<Package<'static>, OpenError> {
    wheel(path, &path.file_name().unwrap_or_default().to_string_lossy(), Depth::Rules)
}

fn wheel(path: &Path, name: &str, depth: Depth) -> Result<Package<'static>, OpenError> {
    let file = match depth {
        Depth::Outline => WheelFile::read_some(path, is_outlined)?,
        Depth::Rules | Depth::Comparison | Depth::Digests => WheelFile::read(path)?,
    };
    file.sound()?;
    if depth != Depth::Rules {
        check_texts(&file, path)?;
    }
    let wheel = Wheel::to_depth(file, name, depth);
    let mut members = Vec::new();
    for (at, entry) in wheel.entries().iter().enumerate() {
        let unread =
            |source| OpenError::Member { path: path.to_owned(), name: entry.name.clone(), source };
        for member in wheel.read(at..at + 1).map_err(unread)? {
            let of_archive = member.archive_faults.first().and_then(Fault::rejection_reason);
            if let Some(fault) = member.content.fault.clone().or(of_archive) {
                return Err(unread(io::Error::new(io::ErrorKind::InvalidData, fault)));
            }
            members.push(member);
        }
    }
    Ok(wheel.into_package(members))
}

/// Refuses METADATA and WHEEL that are truncated or not UTF-8, because a comparison would miss the
/// rest. [`Depth::Rules`] accepts them, because rules report them.
fn check_texts(file: &WheelFile, path: &Path) -> Result<(), OpenError> {
    for text in ["METADATA", "WHEEL"] {
        let name = format!("{}/{text}", file.dist_info().unwrap_or_default());
        if let Some((_, Some(fault))) = file.text(&name) {
            let source = io::Error::new(io::ErrorKind::InvalidData, fault.what);
            return Err(OpenError::Member { path: path.to_owned(), name, source });
        }
    }
    Ok(())
}

fn sdist(path: &Path, name: &str, depth: Depth) -> Result<Package<'static>, PackageError> {
    let (mut files, mut texts) = (Vec::new(), Texts::default());
    let sdist = Sdist::open(path, |member, bytes| {
        let text = depth.has_texts() && !member.is_directory() && texts.take(member.size);
        let request = FactRequest { depth, text, targets: None };
        files.extend(archived::file(member, bytes, Scheme::Source, &request)?);
        Ok(())
    })?;
    let metadata = Metadata::parse(sdist.pkg_info().ok_or(PackageError::NoPkgInfo)?);
    let mut package = Package::new(name, Form::Sdist);
    (package.files, package.size) = (files, sdist.size);
    Rules(&metadata).add_facts(&mut package);
    package.finished = Known::Is(Box::new(Finished {
        metadata,
        header: Header::default(),
        entry_points: EntryPoints { entries: sdist.scripts(), ..EntryPoints::default() }.by_name(),
        runtime: None,
        packed: std::fs::metadata(path)?.len(),
        compressed: false,
    }));
    Ok(package)
}
