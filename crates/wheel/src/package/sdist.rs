//! Reader of source distributions: a gzipped tar archive with one top directory (PEP 625, PEP 643).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::OnceLock;

use flate2::bufread::GzDecoder;
use toml::Table;

use super::{Fault, FaultKind, text};
use crate::archive::entry_points::EntryPoint;
use crate::package::zip_file::LONGEST_TEXT;
use crate::unpacking::{Rules, TarEnd, TarMember, TarReader};
use base::names::DistName;
use base::python_literal;
use base::regular;
use base::version::Version;

mod scripts;

/// Content of an sdist.
#[derive(Debug, Default)]
pub struct Sdist {
    /// File name without `.tar.gz`, and top directory.
    pub top: String,
    /// Paths of all members except directories.
    pub files: BTreeSet<String>,
    /// Total size of files in bytes.
    pub size: u64,
    /// Times of members, in seconds since 1970.
    pub times: BTreeSet<u64>,
    /// Faults of the archive.
    pub faults: Vec<Fault>,
    /// Reason of a premature end.
    pub broken: Option<io::Error>,
    texts: BTreeMap<String, String>,
    project: OnceLock<Option<Result<Table, String>>>,
}

impl Sdist {
    /// Faults of the archive are in the result.
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
            Err(error) if error.raw_os_error().is_none() => sdist.broken = Some(error),
            Err(error) => return Err(regular::with_path(path, error)),
        }
        Ok(sdist)
    }

    /// Reads like [`Sdist::read`], but rejects invalid archives and unsafe members.
    pub fn open(
        path: &Path,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut sdist = Self::read(path, visit)?;
        if let Some(error) = sdist.broken.take() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        match sdist.faults.iter().find_map(Fault::rejection_reason) {
            Some(refusal) => Err(io::Error::new(io::ErrorKind::InvalidData, refusal)),
            None => Ok(sdist),
        }
    }

    /// Metadata in the top directory.
    pub fn pkg_info(&self) -> Option<&str> {
        let top_level = self.texts.get(&format!("{}/PKG-INFO", self.top));
        top_level
            .or_else(|| self.texts.iter().find(|(path, _)| is_pkg_info(path)).map(|(_, text)| text))
            .map(String::as_str)
    }

    /// Data of the first module.
    pub fn own_facts(&self) -> Option<serde_json::Value> {
        let facts = self.texts.iter().find(|(path, _)| path.ends_with("/_dist_info.py"));
        facts.and_then(|(_, text)| python_literal::data(text))
    }

    /// Text of a file in the top directory, if it was kept.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(&format!("{}/{name}", self.top)).map(String::as_str)
    }

    /// Its `pyproject.toml`, or the reason for which that is not TOML.
    pub fn project(&self) -> Option<&Result<Table, String>> {
        let read = |text| toml::from_str(text).map_err(|error| error.message().to_owned());
        self.project.get_or_init(|| self.text(scripts::PROJECT).map(read)).as_ref()
    }

    /// Scripts that the sdist declares.
    pub fn scripts(&self) -> Vec<EntryPoint> {
        let lists = self.texts.iter().filter_map(|(path, text)| {
            Some((path.strip_prefix(&*self.top)?.strip_prefix('/')?, &**text))
        });
        scripts::read(lists, self.project().and_then(|project| project.as_ref().ok()))
    }

    /// Returns whether the top directory has a file.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains(&format!("{}/{name}", self.top))
    }

    /// Returns whether a directory below the top directory has files; its path ends with `/`.
    pub fn has_below(&self, directory: &str) -> bool {
        let start = format!("{}/{directory}", self.top);
        self.files.range(start.clone()..).next().is_some_and(|file| file.starts_with(&start))
    }

    fn members(
        &mut self,
        file: File,
        mut visit: impl FnMut(&TarMember, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let gzip = GzDecoder::new(BufReader::new(file));
        let mut end = TarReader::new(gzip, Rules::SDIST).visit(|member, bytes| {
            let text = self.member(member, bytes)?;
            visit(member, &mut text.as_bytes().chain(bytes))
        })?;
        let padding_len = end.padding_len()?;
        let TarEnd { source: mut gzip, faults, has_end_block } = end;
        self.faults.extend(faults.into_iter().map(Fault::from));
        match padding_len {
            None => {
                let message = "bytes after the end of its tar archive";
                self.faults.push(Fault::new(FaultKind::Stray, message));
            }
            Some(bytes) if !has_end_block || bytes < 512 => {
                let message = "its tar archive does not end with two zero blocks, as uv requires";
                self.faults.push(Fault::new(FaultKind::Broken, message));
            }
            Some(_) => {}
        }
        // Reads to the checksum after the last byte.
        io::copy(&mut gzip, &mut io::sink())?;
        if gzip.into_inner().read(&mut [0])? > 0 {
            self.faults.push(Fault::new(FaultKind::Stray, "bytes after the archive"));
        }
        Ok(())
    }

    fn member(&mut self, member: &TarMember, bytes: &mut dyn Read) -> io::Result<String> {
        let TarMember { path, size, .. } = member;
        self.times.insert(member.time()?);
        self.faults.extend(member.faults.iter().cloned().map(Fault::from));
        let mut faults = Vec::from_iter(mode(member)?);
        let mut text = String::new();
        if !member.is_directory() {
            self.size += size;
            if self.wants(path) && member.is_file() {
                let fault;
                (text, fault) = read_text(bytes)?;
                let is_read = !self.lists_scripts(path) || path.ends_with("/pyproject.toml");
                faults.extend(fault.filter(|_| is_read));
                self.texts.insert(path.clone(), text.clone());
            }
            self.files.insert(path.clone());
        }
        self.faults.extend(faults.into_iter().map(|fault| fault.of(path)));
        Ok(text)
    }

    fn wants(&self, path: &str) -> bool {
        let below = path.strip_prefix(&*self.top).and_then(|path| path.strip_prefix('/'));
        let is_facts =
            below.is_some_and(|path| path.starts_with("src/") && path.ends_with("/_dist_info.py"));
        // Only the first such file: there can be as many as members.
        let is_first = |is_such: fn(&str) -> bool| !self.texts.keys().any(|text| is_such(text));
        below == Some("PKG-INFO")
            || is_pkg_info(path) && is_first(is_pkg_info)
            || is_facts && is_first(|text| text.ends_with("/_dist_info.py"))
            || self.lists_scripts(path)
    }

    fn lists_scripts(&self, path: &str) -> bool {
        let below = path.strip_prefix(&*self.top).and_then(|path| path.strip_prefix('/'));
        below.is_some_and(scripts::is_list)
    }
}

fn is_pkg_info(path: &str) -> bool {
    path.strip_suffix("/PKG-INFO").is_some_and(|top| !top.contains('/'))
}

fn mode(member: &TarMember) -> io::Result<Option<Fault>> {
    let mode = member.mode()?;
    let wrong = member.is_file() && mode & 0o7002 != 0;
    let message = "writable for everyone, or with set-user-id, set-group-id or sticky bit";
    let fault =
        || Fault::new(FaultKind::Mode, message).because(format!("mode {:04o}", mode & 0o7777));
    Ok(wrong.then(fault))
}

fn read_text(bytes: &mut dyn Read) -> io::Result<(String, Option<Fault>)> {
    let mut text = Vec::new();
    bytes.take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    Ok(text::checked(text))
}

/// Returns whether name and version match in any spelling. Old names contain `-`, so each `-` may
/// precede the version.
pub fn is_of(file_name: &str, name: &DistName, version: &Version) -> bool {
    let stem = file_name.strip_suffix(".tar.gz").unwrap_or(file_name);
    stem.match_indices('-').any(|(at, _)| {
        let (dist, its_version) =
            (stem[..at].parse::<DistName>(), stem[at + 1..].parse::<Version>());
        dist.is_ok_and(|dist| dist.normalized() == name.normalized())
            && its_version.is_ok_and(|its_version| its_version == *version)
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
