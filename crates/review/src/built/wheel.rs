use std::path::Path;

use super::member::{self, Texts};
use super::{Built, BuiltContent, BuiltFile, Bytes, Depth};
use base::names::RelPath;
use base::python_literal;
use plan::{Form, WheelVariant};
use wheel::archive::variants;
use wheel::package::devel_archive::{self, is_devel_archive};
use wheel::package::directory::DirectoryEntry;
use wheel::package::entry_points::EntryPoints;
use wheel::package::{Header, Metadata, OpenError, PackageError, Wheel};

const METADATA: [&str; 5] = ["METADATA", "WHEEL", "RECORD", "entry_points.txt", variants::MEMBER];

/// Returns whether a member is read for an outline: metadata, facts for the runtime, the lists of
/// `sys.path` and of links of the devel tree, which have the version.
pub fn is_outlined(name: &str) -> bool {
    let (directory, file) = name.split_once('/').unwrap_or(("", name));
    let is_list = directory.is_empty()
        && Path::new(file).extension().is_some_and(|extension| extension == "pth");
    let is_metadata = directory.ends_with(".dist-info") && METADATA.contains(&file);
    let is_links = name.contains("/.devel_links/");
    is_list || is_metadata || is_links || file == "_dist_info.py"
}

pub(super) fn read(path: &Path, directory: &RelPath, depth: Depth) -> Result<Built, PackageError> {
    let wheel = match depth {
        Depth::Whole => Wheel::open(path)?,
        Depth::Outline => Wheel::open_some(path, is_outlined)?,
    };
    let metadata = Metadata::parse(&wheel.info("METADATA")?);
    let entry_points = wheel.text(&format!("{}/entry_points.txt", wheel.dist_info()))?;
    let facts = own_facts(&wheel)?;
    let fact = |key: &str| facts.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let archive = wheel.entries().iter().find(|entry| is_devel_archive(&entry.name));
    let mut built = Built {
        directory: directory.clone(),
        form: Form::Wheel,
        name: metadata.name()?,
        version: metadata.version()?,
        wheel_variant: wheel_variant(&wheel)?,
        platform_tag: Some(platform_tag(&wheel)?),
        module: fact("module"),
        platform_dir: fact("platform_dir"),
        packed: std::fs::metadata(path)?.len(),
        compressed: false,
        archive: archive.map(|entry| entry.name.parse()).transpose()?,
        metadata: metadata.described(),
        entry_points: EntryPoints::parse(&entry_points.unwrap_or_default()).by_name(),
        files: Vec::new(),
    };
    members(&wheel, &mut built, depth)?;
    Ok(built)
}

/// Skips metadata and descriptions (`sboms`), and replaces the archive by its members.
fn members(wheel: &Wheel, built: &mut Built, depth: Depth) -> Result<(), PackageError> {
    let info = wheel.dist_info();
    let (licenses, described) = (format!("{info}/licenses/"), format!("{info}/sboms/"));
    let mut texts = Texts::default();
    for entry in wheel.entries() {
        let DirectoryEntry { name, size, crc32, .. } = entry;
        let metadata = name
            .strip_prefix(info)
            .and_then(|n| n.strip_prefix('/'))
            .is_some_and(|n| METADATA.contains(&n));
        built.compressed |= !entry.is_stored() && !name.ends_with(".dist-info/RECORD");
        if metadata || name.starts_with(&described) || entry.is_directory() {
            continue;
        }
        if depth == Depth::Outline && !is_outlined(name) {
            built.files.push(outlined(entry, &licenses));
            continue;
        }
        let unread = |source| wheel.unread(name, source);
        let bytes = wheel.member(entry)?;
        if built.archive.as_ref().is_some_and(|archive| archive.as_str() == name) {
            let archived = devel_archive::each(name, bytes, |member, bytes| {
                built.files.push(member::of_tar(member, bytes, false)?);
                Ok(())
            });
            archived.map_err(unread)?;
            continue;
        }
        let license = name.strip_prefix(&licenses);
        let platform = built
            .platform_dir
            .as_deref()
            .is_some_and(|dir| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')));
        // Generated link lists are in the platform directory.
        let text = license.is_none()
            && (!platform || Path::new(name).extension().is_some_and(|e| e == "json"))
            && texts.take(*size);
        let bytes = member::of_zip(bytes, *size, *crc32, text).map_err(unread)?;
        built.files.push(BuiltFile {
            path: license.unwrap_or(name).to_owned(),
            license: license.is_some(),
            content: BuiltContent::Bytes(bytes),
            size: *size,
            executable: entry.mode & 0o111 != 0,
        });
    }
    Ok(())
}

fn outlined(entry: &DirectoryEntry, licenses: &str) -> BuiltFile {
    let license = entry.name.strip_prefix(licenses);
    BuiltFile {
        path: license.unwrap_or(&entry.name).to_owned(),
        license: license.is_some(),
        content: BuiltContent::Bytes(Bytes { crc32: entry.crc32, ..Bytes::default() }),
        size: entry.size,
        executable: entry.mode & 0o111 != 0,
    }
}

fn own_facts(wheel: &Wheel) -> Result<Option<serde_json::Value>, OpenError> {
    let own = |entry: &&DirectoryEntry| {
        entry.name.strip_suffix("/_dist_info.py").is_some_and(|module| !module.contains('/'))
    };
    let Some(entry) = wheel.entries().iter().find(own) else { return Ok(None) };
    Ok(wheel.text(&entry.name)?.and_then(|text| python_literal::data(&text)))
}

fn wheel_variant(wheel: &Wheel) -> Result<Option<WheelVariant>, OpenError> {
    let Some(label) = wheel.name().variant.clone() else { return Ok(None) };
    let json = wheel.text(&format!("{}/{}", wheel.dist_info(), variants::MEMBER))?;
    Ok(Some(WheelVariant { label, json: json.unwrap_or_default() }))
}

fn platform_tag(wheel: &Wheel) -> Result<String, OpenError> {
    let tags = Header::parse(&wheel.info("WHEEL")?).all("Tag");
    let platforms: Vec<&str> = tags.iter().filter_map(|tag| tag.rsplit('-').next()).collect();
    Ok(platforms.join("."))
}
