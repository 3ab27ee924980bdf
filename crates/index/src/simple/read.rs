use std::path::Path;

use fs_err as fs;

use super::package::Package;
use base::hash::Sha256;
use base::names::{DistName, Form};
use base::regular;
use base::version::Version;
use wheel::archive::Timestamp;
use wheel::archive::variants::{self, Variants};
use wheel::package::sdist::is_of;
use wheel::package::{Metadata, PackageError, Sdist, Wheel};

pub(super) fn package(path: &Path) -> Result<(Package, Option<Vec<u8>>), PackageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some((dist, version)) = variants::of_file_name(&name) {
        return about_variants(path, &dist, version).map(|package| (package, None));
    }
    match Form::of_file(&name) {
        Some(Form::Wheel) => wheel(path).map(|(package, metadata)| (package, Some(metadata))),
        Some(Form::Sdist) | None => sdist(path, &name).map(|package| (package, None)),
    }
}

/// Size limit of variant files.
const LONGEST_TEXT: u64 = 1 << 20;

fn wheel(path: &Path) -> Result<(Package, Vec<u8>), PackageError> {
    let wheel = Wheel::open(path)?;
    let bytes = wheel.bytes(&format!("{}/METADATA", wheel.dist_info()))?.unwrap_or_default();
    let metadata = Metadata::parse(&String::from_utf8_lossy(&bytes));
    let times = wheel.entries().iter().filter_map(|entry| {
        let (day, time) = entry.time;
        Timestamp::from_dos(time, day)
    });
    let package =
        listed(path, &metadata, times.max(), |name, version| wheel.name().is_of(name, version))?;
    Ok((Package { metadata: Some(Sha256::of(&bytes).to_string()), ..package }, bytes))
}

/// Lists a variant file as a package: installers read it first, and an invalid one would break all
/// installations.
fn about_variants(path: &Path, dist: &DistName, version: Version) -> Result<Package, PackageError> {
    let bytes = regular::read(path, LONGEST_TEXT)?;
    Variants::read(&bytes).map_err(PackageError::Variants)?;
    Ok(Package {
        size: bytes.len() as u64,
        sha256: Sha256::of(&bytes).to_string(),
        metadata: None,
        project: dist.normalized(),
        version,
        requires_python: None,
        index: None,
        time: Timestamp::EARLIEST.seconds(),
    })
}

fn sdist(path: &Path, file: &str) -> Result<Package, PackageError> {
    let sdist = Sdist::open(path, |_, _| Ok(()))?;
    let metadata = Metadata::parse(sdist.pkg_info().ok_or(PackageError::NoPkgInfo)?);
    let times = sdist.times.iter().filter_map(|time| Timestamp::from_seconds(*time));
    let package = listed(path, &metadata, times.max(), |name, version| is_of(file, name, version))?;
    let facts = sdist.own_facts();
    let index = facts.as_ref().and_then(|facts| facts.get("index")?.as_str()?.parse().ok());
    Ok(Package { index, ..package })
}

/// `is_of` compares the file name with the metadata.
fn listed(
    path: &Path,
    metadata: &Metadata,
    newest: Option<Timestamp>,
    is_of: impl Fn(&DistName, &Version) -> bool,
) -> Result<Package, PackageError> {
    let (name, version) = (metadata.name()?, metadata.version()?);
    if !is_of(&name, &version) {
        return Err(PackageError::Mismatch { name, version });
    }
    Ok(Package {
        size: fs::metadata(path)?.len(),
        sha256: regular::sha256(path)?,
        metadata: None,
        project: name.normalized(),
        version,
        requires_python: metadata.first("Requires-Python").map(str::to_owned),
        index: None,
        time: newest.unwrap_or_default().seconds(),
    })
}
