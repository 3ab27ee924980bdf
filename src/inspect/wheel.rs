//! Reading one wheel.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::member::{Texts, Unread};
use super::metadata;
use super::{Built, Member, PackageError, tar};
use crate::archive::directory::Entry;
use crate::archive::header::Header;
use crate::archive::xz_stream;
use crate::archive::zip_file::{LONGEST_TEXT, ZipFile};
use crate::names::RelPath;
use crate::plan::Form;
use crate::review::diff::data;

/// What the files of a wheel's metadata directory are, beside licence texts.
const METADATA: [&str; 4] = ["METADATA", "WHEEL", "RECORD", "entry_points.txt"];

pub(super) fn read(path: &Path, directory: &RelPath) -> Result<Built, PackageError> {
    let zip = ZipFile::open(path)?;
    let dist_info = zip.entries().iter().find_map(|entry| {
        entry.name.strip_suffix("/METADATA").filter(|dir| dir.ends_with(".dist-info"))
    });
    let dist_info = dist_info.ok_or(PackageError::Missing("METADATA"))?.to_owned();
    let text = |name: &str| text(&zip, &format!("{dist_info}/{name}"));
    let header = Header::parse(&text("METADATA")?.ok_or(PackageError::Missing("METADATA"))?);
    let tags = Header::parse(&text("WHEEL")?.ok_or(PackageError::Missing("WHEEL"))?);
    let entry_points = metadata::console_scripts(&text("entry_points.txt")?.unwrap_or_default());
    let facts = own_facts(&zip)?;
    let fact =
        |key: &str| facts.as_ref().and_then(|facts| facts.get(key)?.as_str()).map(str::to_owned);
    let (module, platform_dir) = (fact("module"), fact("platform_dir"));
    let archive =
        fact("archive").zip(module.as_ref()).map(|(name, module)| format!("{module}/{name}"));
    let mut built = Built {
        directory: directory.clone(),
        form: Form::Wheel,
        name: metadata::one(&header, "Name")?.parse()?,
        version: metadata::one(&header, "Version")?.parse()?,
        platform_tag: Some(platform_tag(&tags)),
        module,
        platform_dir,
        compressed: false,
        archive: archive.as_deref().map(str::parse).transpose()?,
        metadata: metadata::metadata(&header),
        extras: header.all("Provides-Extra"),
        entry_points,
        files: Vec::new(),
    };
    members(&zip, &dist_info, archive.as_deref(), &mut built)?;
    Ok(built)
}

/// All members but those of the metadata and what describes the wheel (`sboms`), and those of the archive in place of the archive.
fn members(
    zip: &ZipFile,
    dist_info: &str,
    archive: Option<&str>,
    built: &mut Built,
) -> Result<(), PackageError> {
    let (licenses, described) = (format!("{dist_info}/licenses/"), format!("{dist_info}/sboms/"));
    let mut texts = Texts::default();
    for entry in zip.entries() {
        let Entry { name, size, crc32, .. } = entry;
        let metadata = name
            .strip_prefix(dist_info)
            .and_then(|n| n.strip_prefix('/'))
            .is_some_and(|n| METADATA.contains(&n));
        built.compressed |= !entry.is_stored() && !name.ends_with(".dist-info/RECORD");
        if metadata || name.starts_with(&described) || entry.is_directory() {
            continue;
        }
        let unread = |source| PackageError::Member { name: name.clone(), source };
        let member = zip.member(entry).map_err(unread)?;
        if archive == Some(name) {
            built.files.extend(archived(name, member)?);
            continue;
        }
        let executable = entry.mode & 0o111 != 0;
        let license = name.strip_prefix(&licenses);
        let platform = built
            .platform_dir
            .as_deref()
            .is_some_and(|dir| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')));
        // The list of links for a devel tree is generated, and lies in the platform directory.
        let text = license.is_none()
            && (!platform || Path::new(name).extension().is_some_and(|e| e == "json"))
            && texts.take(*size);
        let content = Unread { reader: member, size: *size, crc32: Some(*crc32), text };
        let kind = content.read().map_err(unread)?;
        let path = license.unwrap_or(name).to_owned();
        built.files.push(Member {
            path,
            license: license.is_some(),
            kind,
            size: *size,
            executable,
        });
    }
    Ok(())
}

fn archived(name: &str, member: impl Read) -> Result<Vec<Member>, PackageError> {
    // Blocks of an archive that was compressed in parallel can be decompressed so.
    if Path::new(name).extension().is_some_and(|e| e == "xz") {
        tar::members(xz_stream::decoder(member)?, |_| false)
    } else {
        tar::members(member, |_| false)
    }
}

/// What the package knows of itself, where it was made by rockpack.
fn own_facts(zip: &ZipFile) -> Result<Option<serde_json::Value>, PackageError> {
    let own = |entry: &&Entry| {
        entry.name.strip_suffix("/_dist_info.py").is_some_and(|module| !module.contains('/'))
    };
    let Some(entry) = zip.entries().iter().find(own) else { return Ok(None) };
    Ok(text(zip, &entry.name)?.and_then(|text| data(&text)))
}

fn platform_tag(wheel: &Header) -> String {
    let tags = wheel.all("Tag");
    let platforms: Vec<&str> = tags.iter().filter_map(|tag| tag.rsplit('-').next()).collect();
    platforms.join(".")
}

/// The text of a member, if there is one of this name.
fn text(zip: &ZipFile, name: &str) -> Result<Option<String>, PackageError> {
    let Some(index) = zip.find(name) else { return Ok(None) };
    let bytes = zip.bytes(&zip.entries()[index], LONGEST_TEXT);
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    });
    text.map(Some).map_err(|source| PackageError::Member { name: name.to_owned(), source })
}
