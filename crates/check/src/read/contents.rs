use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use super::strict::unreadable;
use base::names::Form;
use wheel::package::devel_archive::{self, is_devel_archive};
use wheel::package::{FileContent, Found, Kept, PackageError, ReadError, Sdist, Wheel};
use wheel::unpacking::TarMember;

/// Bytes of files, by their names in the package.
///
/// # Errors
/// If the package or a file cannot be read.
pub fn contents(
    found: &Found,
    wanted: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Kept>, ReadError> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    read(found, wanted).map_err(|source| unreadable(found, source))
}

fn read(found: &Found, wanted: &BTreeSet<&str>) -> Result<BTreeMap<String, Kept>, PackageError> {
    let mut contents = BTreeMap::new();
    let mut keep = |name: &str, size, bytes: &mut dyn Read| -> io::Result<()> {
        if wanted.contains(name) {
            contents.insert(name.to_owned(), FileContent::new(bytes)?.keep(size)?);
        }
        Ok(())
    };
    let mut of_tar = |member: &TarMember, bytes: &mut dyn Read| {
        if member.is_file() { keep(&member.path, member.size, bytes) } else { Ok(()) }
    };
    if found.form == Form::Sdist {
        Sdist::open(&found.path, of_tar)?;
        return Ok(contents);
    }
    let wheel = Wheel::open(&found.path)?;
    // An archive is long to unpack.
    let is_archived = wanted.iter().any(|name| wheel.zip().find(name).is_none());
    let archives = wheel.entries().iter().filter(|entry| is_devel_archive(&entry.name));
    for entry in archives.filter(|_| is_archived) {
        let archive = wheel.member(entry)?;
        devel_archive::each(&entry.name, archive, &mut of_tar)
            .map_err(|source| wheel.unread(&entry.name, source))?;
    }
    for entry in wheel.entries().iter().filter(|entry| wanted.contains(&*entry.name)) {
        keep(&entry.name, entry.size, &mut wheel.member(entry)?)
            .map_err(|source| wheel.unread(&entry.name, source))?;
    }
    Ok(contents)
}
