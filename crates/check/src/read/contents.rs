use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use super::strict::unreadable;
use base::names::Form;
use wheel::package::devel_archive::{self, is_devel_archive};
use wheel::package::{
    BufferedContent, FileContent, FoundPackage, PackageError, ReadError, Sdist, Wheel,
};
use wheel::unpacking::TarMember;

/// Returns the bytes of the files `wanted` that the package has, by name.
///
/// # Errors
/// If the package or a file cannot be read.
pub fn contents(
    found: &FoundPackage,
    wanted: &BTreeSet<&str>,
) -> Result<BTreeMap<String, BufferedContent>, ReadError> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    read(found, wanted).map_err(|source| unreadable(found, source))
}

fn read(
    found: &FoundPackage,
    wanted: &BTreeSet<&str>,
) -> Result<BTreeMap<String, BufferedContent>, PackageError> {
    let mut contents = BTreeMap::new();
    let mut keep = |name: &str, size, bytes: &mut dyn Read| -> io::Result<()> {
        if wanted.contains(name) {
            contents.insert(name.to_owned(), FileContent::new(bytes)?.keep(size)?);
        }
        Ok(())
    };
    let mut keep_file = |member: &TarMember, bytes: &mut dyn Read| {
        if member.is_file() { keep(&member.path, member.size, bytes) } else { Ok(()) }
    };
    if found.form == Form::Sdist {
        Sdist::open(&found.path, keep_file)?;
        return Ok(contents);
    }
    let wheel = Wheel::open(&found.path)?;
    // Archives are unpacked only for names that are no members, because it takes long.
    let has_others = wanted.iter().any(|name| wheel.zip().find(name).is_none());
    let archives = wheel.entries().iter().filter(|entry| is_devel_archive(&entry.name));
    for entry in archives.filter(|_| has_others) {
        let archive = wheel.member(entry)?;
        devel_archive::visit(&entry.name, archive, &mut keep_file)
            .map_err(|source| wheel.unread(&entry.name, source))?;
    }
    for entry in wheel.entries().iter().filter(|entry| wanted.contains(&*entry.name)) {
        keep(&entry.name, entry.size, &mut wheel.member(entry)?)
            .map_err(|source| wheel.unread(&entry.name, source))?;
    }
    Ok(contents)
}
