//! Another platform tag, or another version, for a finished wheel: name, `WHEEL`, `METADATA` and RECORD change, every
//! other member's bytes are copied as they are stored.
//!
//! The result is as a build writes wheels, whoever made the original: sizes in the local headers, no
//! data descriptors, no directory entries, the metadata directory last and RECORD last of all.
//! A wheel that rockpack built comes out byte for byte as if it had been built for the other tag.

use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::archive::Timestamp;
use crate::archive::checksum::Digest;
use crate::archive::deflate::{Level, Packed};
use crate::archive::zip::{CopiedMember, ZipError, ZipWriter};
use crate::package::directory::DirectoryEntry;
use crate::package::{CopyError, OpenError, Wheel, WheelName, copied};
use base::cleanup::{self, Registration};
use base::names::{PathError, PlatformTags, RelPath, VariantLabel};
use base::regular;
use base::version::Version;
use fs_err as fs;
use tempfile::NamedTempFile;

mod record;
mod renamed;
mod same;

use record::Changes;
use renamed::Renamed;

/// How much of the new wheel is buffered before it goes to the disk.
const BUFFER: usize = 1 << 20;

/// Why a wheel cannot get another tag.
#[derive(Debug, thiserror::Error)]
pub enum RetagError {
    /// The wheel itself.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What the wheel holds does not run where the tag says.
    #[error("{} cannot be `{tag}`: {reason}", .wheel.display())]
    Contradicted {
        /// The wheel.
        wheel: PathBuf,
        /// The tag, one of the set that was asked for.
        tag: String,
        /// Why not.
        reason: String,
    },
    /// Something else has the name that the new wheel would get.
    #[error("{} is there already, with other content", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A member that no installer takes.
    #[error("`{name}` of {} {reason}", .wheel.display())]
    Member {
        /// The wheel.
        wheel: PathBuf,
        /// The member.
        name: String,
        /// What is wrong with it, as the rest of a sentence.
        reason: &'static str,
    },
    /// A member whose name is no path.
    #[error("a member of {} cannot be copied", .wheel.display())]
    Path {
        /// The wheel.
        wheel: PathBuf,
        /// What is wrong with it.
        source: PathError,
    },
    /// The new archive.
    #[error("cannot write {}", .path.display())]
    Zip {
        /// The new wheel.
        path: PathBuf,
        /// What failed.
        source: ZipError,
    },
    /// The disk.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The new wheel.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A wheel that has its new tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retagged {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether it was there before, as it has to be.
    pub was_there: bool,
    /// Signatures of the old RECORD, which are wrong for the new one and were left out.
    pub dropped: Vec<String>,
}

/// Writes `wheel` into the directory `into` under the platform tag `platform`, or the tags of a
/// compressed set (`manylinux_2_28_x86_64.linux_x86_64`). `wheel` stays.
///
/// # Errors
/// When the wheel cannot be read, another file has the new name, or the disk fails.
pub fn retag(wheel: &Path, platform: &PlatformTags, into: &Path) -> Result<Retagged, RetagError> {
    prepare(wheel, platform, into)?.put()
}

/// A wheel with its new tag that does not have its new name yet. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct Prepared {
    place: PathBuf,
    /// `None` where the wheel itself has the tag and the name.
    file: Option<(NamedTempFile, Registration)>,
    dropped: Vec<String>,
}

impl Prepared {
    /// The file that has the bytes of the wheel, until it gets its name.
    pub fn file(&self) -> &Path {
        self.file.as_ref().map_or(&self.place, |(file, _)| file.path())
    }

    /// The path that the wheel gets.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Gives the wheel its new name.
    ///
    /// # Errors
    /// When another file has the name, or the disk fails.
    pub fn put(self) -> Result<Retagged, RetagError> {
        let Self { place, file, dropped } = self;
        let Some((file, _registration)) = file else {
            return Ok(Retagged { path: place, was_there: true, dropped });
        };
        let failed = |source| RetagError::Write { path: place.clone(), source };
        // Never over a file that appeared meanwhile.
        let was_there = match file.persist_noclobber(&place) {
            Ok(_) => false,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                if regular::sha256(error.file.path()).map_err(failed)?
                    != regular::sha256(&place).map_err(failed)?
                {
                    return Err(RetagError::Exists { path: place });
                }
                true
            }
            Err(error) => return Err(failed(error.error)),
        };
        Ok(Retagged { path: place, was_there, dropped })
    }
}

/// Writes `wheel` with its new tag as [`retag`] does, but under a temporary name.
///
/// # Errors
/// When the wheel cannot be read, or the disk fails.
pub fn prepare(wheel: &Path, platform: &PlatformTags, into: &Path) -> Result<Prepared, RetagError> {
    let old = Wheel::open(wheel)?;
    let place = into.join(new_name(wheel, platform.as_str(), old.name().variant.as_ref()));
    let name = WheelName { platform: platform.to_string(), ..old.name().clone() };
    if same::is_one_file(wheel, &place) && same::has_tags(&old, &name)? {
        return Ok(Prepared { place, file: None, dropped: Vec::new() });
    }
    Rewrite { wheel, place: &place, old, name, renamed: None }.run(into)
}

/// Writes `wheel` into the directory `into` under another version, with its metadata directories and its metadata.
/// `wheel` stays. Files that the project itself wrote its version into keep it.
///
/// # Errors
/// Fails if the wheel cannot be read, another file has the new name, or the disk fails.
pub fn reversion(wheel: &Path, version: &Version, into: &Path) -> Result<Retagged, RetagError> {
    let old = Wheel::open(wheel)?;
    let name = WheelName { version: version.clone(), ..old.name().clone() };
    let renamed = Some(Renamed::new(old.dist_info(), version));
    let place = into.join(name.to_string());
    Rewrite { wheel, place: &place, old, name, renamed }.run(into)?.put()
}

/// Refuses what should not get these tags, before [`retag`] writes anything: `contradiction` gives a reason against
/// a tag, and is asked for each of the set.
///
/// # Errors
/// When the wheel cannot be read, or a tag is contradicted.
pub fn check(
    wheel: &Path,
    platform: &PlatformTags,
    mut contradiction: impl FnMut(&str) -> Option<String>,
) -> Result<(), RetagError> {
    Wheel::open(wheel)?;
    for tag in platform.iter() {
        if let Some(reason) = contradiction(tag) {
            let (wheel, tag) = (wheel.to_owned(), tag.to_owned());
            return Err(RetagError::Contradicted { wheel, tag, reason });
        }
    }
    Ok(())
}

/// The file name with another platform tag, which a variant's label can follow. The rest stays as its maker spelt
/// it.
fn new_name(wheel: &Path, platform: &str, label: Option<&VariantLabel>) -> String {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let before = |text: &str| text.rsplit_once('-').map_or(text, |(before, _)| before).to_owned();
    let stem = before(&name);
    match label {
        None => format!("{stem}-{platform}.whl"),
        Some(label) => format!("{}-{platform}-{label}.whl", before(&stem)),
    }
}

/// One wheel on its way to another name.
struct Rewrite<'a> {
    wheel: &'a Path,
    place: &'a Path,
    old: Wheel,
    /// What the new file's name says.
    name: WheelName,
    /// The directories of another version, where it gets one.
    renamed: Option<Renamed>,
}

/// What a member is, and so what becomes of it.
enum Part {
    /// What is installed: copied.
    Payload,
    /// A file of the metadata directory that does not know the tag: copied.
    Metadata,
    /// Has the tags: written anew.
    Wheel,
    /// Knows `WHEEL`: written anew.
    Record,
    /// Signs the RECORD that is no more: left out.
    Signature,
    /// An entry without content, which says nothing: left out.
    Directory,
}

impl Rewrite<'_> {
    fn run(self, into: &Path) -> Result<Prepared, RetagError> {
        let place = self.place.to_owned();
        let failed = |source| RetagError::Write { path: place.clone(), source };
        fs::create_dir_all(into).map_err(failed)?;
        let made = cleanup::temporary(|| NamedTempFile::with_prefix_in(".rockpack-", into));
        let (mut file, registration) = made.map_err(failed)?;
        let dropped = self.write(BufWriter::with_capacity(BUFFER, file.as_file_mut()))?;
        file.as_file().set_permissions(PermissionsExt::from_mode(0o644)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        Ok(Prepared { place, file: Some((file, registration)), dropped })
    }

    /// Writes the whole archive, and gives the names of the signatures that were left out.
    fn write(&self, sink: impl Write + Seek) -> Result<Vec<String>, RetagError> {
        let mut zip = ZipWriter::new(sink, Timestamp::EARLIEST);
        let content = self.wheel_file()?;
        let record = self.old.info("RECORD")?;
        let (mut changes, mut dropped) = (Changes::default(), Vec::new());
        for (entry, part) in self.parts() {
            let name = &entry.name;
            match part {
                Part::Metadata if self.renamed.is_some() && name.ends_with("/METADATA") => {
                    let content =
                        renamed::metadata(&self.old.info("METADATA")?, &self.name.version);
                    changes.set(name, Digest::of(content.as_bytes()));
                    self.put(&mut zip, entry, &content)?;
                }
                Part::Payload | Part::Metadata => self.copy(&mut zip, entry)?,
                Part::Wheel => {
                    changes.set(name, Digest::of(content.as_bytes()));
                    self.put(&mut zip, entry, &content)?;
                }
                Part::Signature => {
                    changes.remove(name);
                    dropped.push(name.clone());
                }
                Part::Record => {
                    let record = changes.applied(&record, name);
                    let record =
                        self.renamed.as_ref().map(|it| it.record(&record)).unwrap_or(record);
                    self.put(&mut zip, entry, &record)?;
                }
                Part::Directory => {}
            }
        }
        zip.finish().map_err(|source| self.not_written(source))?;
        Ok(dropped)
    }

    /// The members of the old archive, in the order of the new one: the metadata directory after all
    /// others, RECORD after all of it.
    fn parts(&self) -> Vec<(&DirectoryEntry, Part)> {
        let info = self.old.dist_info();
        let part =
            |name: &str| match name.strip_prefix(info).and_then(|rest| rest.strip_prefix('/')) {
                _ if name.ends_with('/') => Part::Directory,
                None => Part::Payload,
                Some("RECORD") => Part::Record,
                Some("RECORD.jws" | "RECORD.p7s") => Part::Signature,
                Some("WHEEL") => Part::Wheel,
                Some(_) => Part::Metadata,
            };
        let entries = self.old.entries().iter();
        let mut parts: Vec<_> = entries.map(|entry| (entry, part(&entry.name))).collect();
        parts.sort_by_key(|(_, part)| match part {
            Part::Payload | Part::Directory => 0,
            Part::Metadata | Part::Wheel | Part::Signature => 1,
            Part::Record => 2,
        });
        parts
    }

    fn copy(
        &self,
        zip: &mut ZipWriter<impl Write + Seek>,
        entry: &DirectoryEntry,
    ) -> Result<(), RetagError> {
        let (path, described) = (self.path(&entry.name)?, self.described(entry)?);
        let copied = zip.copy(&path, &described, &mut self.old.zip().packed(entry));
        copied.map_err(|source| self.not_written(source))
    }

    /// Writes new content in place of that of a member, whose mode and time stay.
    fn put(
        &self,
        zip: &mut ZipWriter<impl Write + Seek>,
        entry: &DirectoryEntry,
        content: &str,
    ) -> Result<(), RetagError> {
        let path = self.path(&entry.name)?;
        let packed = Packed::new(content.as_bytes(), Level::Default);
        let CopiedMember { mode, time, .. } = self.described(entry)?;
        let described = CopiedMember::of(&packed, mode, time);
        let copied = zip.copy(&path, &described, &mut &packed.bytes[..]);
        copied.map_err(|source| self.not_written(source))
    }

    fn path(&self, name: &str) -> Result<RelPath, RetagError> {
        let renamed = self.renamed.as_ref().and_then(|renamed| renamed.path(name));
        let path = renamed.as_deref().unwrap_or(name).parse();
        path.map_err(|source| RetagError::Path { wheel: self.wheel.to_owned(), source })
    }

    /// What the old archive says of a member.
    fn described(&self, entry: &DirectoryEntry) -> Result<CopiedMember, RetagError> {
        copied(entry).map_err(|CopyError { name, reason }| RetagError::Member {
            wheel: self.wheel.to_owned(),
            name,
            reason,
        })
    }

    /// `WHEEL` with the tags that the new name stands for, where the old ones stood.
    fn wheel_file(&self) -> Result<String, RetagError> {
        let old = self.old.info("WHEEL")?;
        let lines: Vec<&str> = old.lines().filter(|line| !line.is_empty()).collect();
        let is_tag = |line: &&str| {
            line.split_once(':').is_some_and(|(field, _)| field.trim().eq_ignore_ascii_case("tag"))
        };
        let at = lines.iter().position(is_tag).unwrap_or(lines.len());
        let line = |line: &&str| format!("{line}\n");
        let before = lines[..at].iter().map(line);
        let after = lines[at..].iter().filter(|line| !is_tag(line)).map(line);
        Ok(before.chain(self.name.tags().map(|tag| format!("Tag: {tag}\n"))).chain(after).collect())
    }

    fn not_written(&self, source: ZipError) -> RetagError {
        RetagError::Zip { path: self.place.to_owned(), source }
    }
}
