//! Reading one sdist.

use std::path::Path;

use flate2::read::GzDecoder;

use super::metadata;
use super::{Built, Kind, Member, PackageError, tar};
use crate::archive::header::Header;
use crate::names::RelPath;
use crate::plan::Form;
use crate::regular;

pub(super) fn read(path: &Path, directory: &RelPath) -> Result<Built, PackageError> {
    let mut files = tar::members(GzDecoder::new(regular::open(path)?), |_| true)?;
    // Everything lies in one directory, which is not a part of the paths.
    files.retain(|member| !matches!(member.kind, Kind::Directory));
    for member in &mut files {
        member.path =
            member.path.split_once('/').map_or(member.path.as_str(), |(_, rest)| rest).to_owned();
    }
    let header =
        Header::parse(&taken(&mut files, "PKG-INFO").ok_or(PackageError::Missing("PKG-INFO"))?);
    let texts = header.all("License-File");
    for member in &mut files {
        member.license = texts.contains(&member.path);
    }
    let entry_points =
        metadata::console_scripts(&taken(&mut files, "entry_points.txt").unwrap_or_default());
    Ok(Built {
        directory: directory.clone(),
        form: Form::Sdist,
        name: metadata::one(&header, "Name")?.parse()?,
        version: metadata::one(&header, "Version")?.parse()?,
        platform_tag: None,
        module: None,
        platform_dir: None,
        compressed: false,
        archive: None,
        metadata: metadata::metadata(&header),
        extras: header.all("Provides-Extra"),
        entry_points,
        files,
    })
}

/// The text of a file that a plan does not count as one.
fn taken(files: &mut Vec<Member>, name: &str) -> Option<String> {
    let index = files.iter().position(|member| member.path == name)?;
    match files.remove(index).kind {
        Kind::Bytes(bytes) => bytes.text,
        Kind::Link(_) | Kind::Directory => None,
    }
}
