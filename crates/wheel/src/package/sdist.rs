//! Source distributions that exist: a gzipped tar with one directory at its top (PEP 625, PEP 643).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::{Fault, FaultKind, text};
use crate::package::zip_file::LONGEST_TEXT;
use crate::unpacking::{Rest, Rules, TarMember, TarReader};
use base::names::DistName;
use base::python_literal;
use base::regular;
use base::version::Version;

/// An sdist that was read, whoever made it.
#[derive(Debug, Default)]
pub struct Sdist {
    /// The file's name without `.tar.gz`, which the one directory has as well.
    pub top: String,
    /// Everything but directories, by path.
    pub files: BTreeSet<String>,
    /// The bytes of all files.
    pub size: u64,
    /// When members were changed, in seconds since 1970.
    pub times: BTreeSet<u64>,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Why it could not be read to its end, if it could not: no gzip, no tar, or cut short.
    pub broken: Option<io::Error>,
    /// Of what is wanted as text, by path.
    texts: BTreeMap<String, String>,
}

impl Sdist {
    /// Reads the sdist at `path`, and shows each member with its bytes to `visit`.
    ///
    /// # Errors
    /// When the file cannot be read. What is wrong with the archive is known of it afterwards.
    pub fn read(
        path: &Path,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<Self> {
        let file = regular::open(path)?.into_parts().0;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let top = file_name.strip_suffix(".tar.gz").unwrap_or(&file_name).to_owned();
        let mut sdist = Self { top, ..Self::default() };
        match sdist.members(file, visit) {
            Ok(()) => {}
            // The bytes are at fault, and not the disk.
            Err(error) if error.raw_os_error().is_none() => sdist.broken = Some(error),
            Err(error) => return Err(regular::of(path, error)),
        }
        Ok(sdist)
    }

    /// The same of an archive that can be read, and whose members every reader may take.
    ///
    /// # Errors
    /// When the file cannot be read, is no gzipped tar archive, or has a member that the rule refuses.
    pub fn open(
        path: &Path,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut sdist = Self::read(path, visit)?;
        if let Some(error) = sdist.broken.take() {
            return Err(error);
        }
        match sdist.faults.iter().find_map(Fault::refusal) {
            Some(refusal) => Err(io::Error::new(io::ErrorKind::InvalidData, refusal)),
            None => Ok(sdist),
        }
    }

    /// The metadata, which lies in the one directory.
    pub fn pkg_info(&self) -> Option<&str> {
        let own = self.texts.get(&format!("{}/PKG-INFO", self.top));
        own.or_else(|| self.texts.iter().find(|(path, _)| is_pkg_info(path)).map(|(_, text)| text))
            .map(String::as_str)
    }

    /// What the first module knows of the package, of one that rockpack made.
    pub fn own_facts(&self) -> Option<serde_json::Value> {
        let own = self.texts.iter().find(|(path, _)| path.ends_with("/_dist_info.py"));
        own.and_then(|(_, text)| python_literal::data(text))
    }

    /// Whether the directory with the file's name has the file `name`.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains(&format!("{}/{name}", self.top))
    }

    fn members(
        &mut self,
        file: File,
        mut visit: impl FnMut(&TarMember, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let gzip = GzDecoder::new(BufReader::new(file));
        let mut rest = TarReader::new(gzip, Rules::SDIST).each(|member, bytes| {
            let text = self.member(member, bytes)?;
            visit(member, &mut text.as_bytes().chain(bytes))
        })?;
        let is_filling = rest.is_filling()?;
        let Rest { source: mut gzip, faults, .. } = rest;
        self.faults.extend(faults.into_iter().map(Fault::from));
        if !is_filling {
            let what = "bytes follow the end of its tar archive";
            self.faults.push(Fault::new(FaultKind::Stray, what));
        }
        // The checksum stands behind the last byte.
        io::copy(&mut gzip, &mut io::sink())?;
        if gzip.into_inner().read(&mut [0])? > 0 {
            self.faults.push(Fault::new(FaultKind::Stray, "bytes follow the archive"));
        }
        Ok(())
    }

    /// Takes in a member; gives its text, as far as that was read.
    fn member(&mut self, member: &TarMember, bytes: &mut dyn Read) -> io::Result<String> {
        let TarMember { path, size, .. } = member;
        self.times.insert(member.time()?);
        self.faults.extend(member.faults.iter().cloned().map(Fault::from));
        let mut faults = Vec::from_iter(mode(member)?);
        let mut text = String::new();
        if !member.is_directory() {
            self.size += size;
            if self.wants(path) {
                let fault;
                (text, fault) = read_text(bytes)?;
                faults.extend(fault);
                self.texts.insert(path.clone(), text.clone());
            }
            self.files.insert(path.clone());
        }
        self.faults.extend(faults.into_iter().map(|fault| fault.of(path)));
        Ok(text)
    }

    /// Whether a file is wanted as text: the metadata, and what the first module knows of the package.
    fn wants(&self, path: &str) -> bool {
        let below = path.strip_prefix(&*self.top).and_then(|path| path.strip_prefix('/'));
        let own =
            below.is_some_and(|path| path.starts_with("src/") && path.ends_with("/_dist_info.py"));
        // Beside the directory's own, one of another directory: there can be as many as there are members.
        let is_first = |is_such: fn(&str) -> bool| !self.texts.keys().any(|text| is_such(text));
        below == Some("PKG-INFO")
            || is_pkg_info(path) && is_first(is_pkg_info)
            || own && is_first(|text| text.ends_with("/_dist_info.py"))
    }
}

fn is_pkg_info(path: &str) -> bool {
    path.strip_suffix("/PKG-INFO").is_some_and(|top| !top.contains('/'))
}

fn mode(member: &TarMember) -> io::Result<Option<Fault>> {
    let mode = member.mode()?;
    let wrong = member.is_file() && mode & 0o7002 != 0;
    let what = "writable for everyone, or set-user-id and the like";
    let fault = || Fault::new(FaultKind::Mode, what).because(format!("mode {:04o}", mode & 0o7777));
    Ok(wrong.then(fault))
}

/// A text, as far as the limit for texts.
fn read_text(bytes: &mut dyn Read) -> io::Result<(String, Option<Fault>)> {
    let mut text = Vec::new();
    bytes.take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    Ok(text::checked(text))
}

/// Whether an sdist's file name is of this version of a distribution, however all are spelt. Old names
/// have `-` in them, so that every `-` may be the one before the version.
pub fn is_of(file_name: &str, name: &DistName, version: &Version) -> bool {
    let stem = file_name.strip_suffix(".tar.gz").unwrap_or(file_name);
    stem.match_indices('-').any(|(at, _)| {
        let (dist, told) = (stem[..at].parse::<DistName>(), stem[at + 1..].parse::<Version>());
        dist.is_ok_and(|dist| dist.normalized() == name.normalized())
            && told.is_ok_and(|told| told == *version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdists_of_any_age_are_known_by_their_names() {
        let check = |file, name: &str, version: &str| {
            is_of(file, &name.parse().unwrap(), &version.parse().unwrap())
        };
        assert!(check("my_dist-1.0.tar.gz", "My-Dist", "1.0"));
        assert!(check("My-Dist-1.0-rc1.tar.gz", "my.dist", "1.0rc1"));
        assert!(!check("my_dist-1.1.tar.gz", "my-dist", "1.0"));
        assert!(!check("other-1.0.tar.gz", "my-dist", "1.0"));
        assert!(!check("nothing.tar.gz", "nothing", "1.0"));
    }
}
