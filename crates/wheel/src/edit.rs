//! Edited copy of a wheel.
//!
//! ```text
//! Wheel ─► Edit: keep, rename, replace, repack, remove, add ─write─► members in their order, RECORD last
//! ```
//!
//! Kept members are copied as they are stored, with their times and modes. Entries of directories
//! and signatures of the old RECORD are dropped.

use std::io::{self, Read as _};

use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::archive::Timestamp;
use crate::archive::checksum::{Digest, Hasher};
use crate::archive::deflate::BLOCK;
use crate::archive::zip::{CopiedMember, ZipError, ZipWriter};
use crate::package::directory::DirectoryEntry;
use crate::package::record::is_signature;
use crate::package::{Wheel, copied};
use base::names::RelPath;
use base::version::Version;

mod content;
mod error;
mod output;
mod packing;
mod prepared;
mod record;
mod rows;
#[cfg(test)]
mod tests;

pub use content::{MemberContent, Size, Stream};
pub use error::{EditError, Fault, MakeError};
pub use output::{Hashes, Output, Sink};
pub use packing::{Packing, xz_preset};
pub use prepared::{FinishedWheel, Prepared};
pub use rows::{RecordRows, RowFault};

use content::Attributes;
use record::{OldRecord, Order, Row};

/// Set-user-id, set-group-id and sticky bit.
pub const SPECIAL: u32 = 0o7000;
/// Permission of everyone to write.
pub const WRITABLE: u32 = 0o002;
/// Permissions that `verify` refuses, and a mended member loses.
pub const UNSOUND: u32 = SPECIAL | WRITABLE;

/// Decisions about the members of a wheel.
#[derive(Debug)]
pub struct Edit<'w> {
    wheel: &'w Wheel,
    dist_info: String,
    members: IndexMap<RelPath, Source<'w>>,
    order: Order,
    /// Whether kept members lose [`UNSOUND`] permissions.
    is_mending: bool,
}

/// Source of a member's bytes. `index` is a member of the old wheel, whose row of RECORD stays.
#[derive(Debug)]
enum Source<'w> {
    Kept {
        index: usize,
        /// Computes a new row of RECORD.
        rehashed: bool,
    },
    Repacked {
        index: usize,
        packing: Packing,
    },
    /// `replaced` gives mode, time and place in RECORD.
    New {
        replaced: Option<usize>,
        content: MemberContent<'w>,
    },
}

impl Source<'_> {
    fn old(&self) -> Option<usize> {
        match self {
            Self::Kept { index, .. } | Self::Repacked { index, .. } => Some(*index),
            Self::New { replaced, .. } => *replaced,
        }
    }
}

/// Files without RECORD and its signatures.
pub fn files(wheel: &Wheel) -> impl Iterator<Item = (usize, &DirectoryEntry)> {
    let is_file = |entry: &DirectoryEntry| {
        let info = info_file(wheel, &entry.name);
        !entry.is_directory() && info != Some("RECORD") && !info.is_some_and(is_signature)
    };
    wheel.entries().iter().enumerate().filter(move |(_, entry)| is_file(entry))
}

fn info_file<'n>(wheel: &Wheel, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(wheel.dist_info())?.strip_prefix('/')
}

impl<'w> Edit<'w> {
    /// Keeps files and RECORD's order.
    pub fn of(wheel: &'w Wheel) -> Result<Self, EditError> {
        let mut edit = Self::part_of(wheel, wheel.dist_info());
        edit.order = Order::Old;
        for (index, entry) in files(wheel) {
            edit.keep(index, &entry.name)?;
        }
        Ok(edit)
    }

    /// Edit without members, with the metadata directory `dist_info`.
    pub fn part_of(wheel: &'w Wheel, dist_info: &str) -> Self {
        let dist_info = dist_info.to_owned();
        Self {
            wheel,
            dist_info,
            members: IndexMap::new(),
            order: Order::Members,
            is_mending: false,
        }
    }

    /// Keeps the member at `index` under `name`.
    pub fn keep(&mut self, index: usize, name: &str) -> Result<(), EditError> {
        self.insert(name.parse()?, Source::Kept { index, rehashed: false })
    }

    /// Keeps the member at `index` like [`Edit::keep`], with a new row of RECORD.
    pub fn rehash(&mut self, index: usize, name: &str) -> Result<(), EditError> {
        self.insert(name.parse()?, Source::Kept { index, rehashed: true })
    }

    /// Removes [`UNSOUND`] permissions of kept members.
    pub fn mend_modes(&mut self) {
        self.is_mending = true;
    }

    /// Adds a member, with the time of METADATA.
    pub fn add(&mut self, name: &str, content: MemberContent<'w>) -> Result<(), EditError> {
        self.insert(name.parse()?, Source::New { replaced: None, content })
    }

    /// Replaces a member's content.
    pub fn replace(&mut self, name: &str, content: MemberContent<'w>) -> Result<(), EditError> {
        let source = self.members.get_mut(&name.parse::<RelPath>()?).ok_or_else(|| absent(name))?;
        *source = Source::New { replaced: source.old(), content };
        Ok(())
    }

    /// Removes a member and its row of RECORD.
    pub fn remove(&mut self, name: &str) -> Result<(), EditError> {
        self.members.shift_remove(&name.parse::<RelPath>()?).map(drop).ok_or_else(|| absent(name))
    }

    /// Packs members of the old wheel anew.
    pub fn repack(&mut self, packing: Packing) {
        for source in self.members.values_mut() {
            if let Source::Kept { index, .. } | Source::Repacked { index, .. } = *source {
                *source = Source::Repacked { index, packing };
            }
        }
    }

    /// Renames directories with a version in their names.
    pub fn set_version(&mut self, version: &Version) -> Result<(), EditError> {
        let info = with_version(&self.dist_info, version);
        let directories = versioned(&self.dist_info, &info);
        for (name, source) in std::mem::take(&mut self.members) {
            let new = renamed(&directories, name.as_str());
            self.insert(new.map_or(Ok(name), |new| new.parse())?, source)?;
        }
        self.dist_info = info;
        Ok(())
    }

    fn insert(&mut self, name: RelPath, source: Source<'w>) -> Result<(), EditError> {
        match self.members.entry(name) {
            Entry::Occupied(taken) => Err(ZipError::Duplicate { name: taken.key().clone() }.into()),
            Entry::Vacant(free) => {
                free.insert(source);
                Ok(())
            }
        }
    }

    pub(crate) fn signatures(&self) -> Vec<String> {
        let names = self.wheel.entries().iter().map(|entry| &entry.name);
        let signs = |name: &&String| info_file(self.wheel, name).is_some_and(is_signature);
        names.filter(signs).cloned().collect()
    }

    /// Writes the wheel, and returns the flushed sink.
    pub fn write<S: Sink>(mut self, sink: S) -> Result<S, EditError> {
        let info = format!("{}/", self.dist_info);
        let is_info = |name: &RelPath| name.as_str().starts_with(&info);
        self.members.sort_by(|one, _, two, _| is_info(one).cmp(&is_info(two)));
        let text = self.wheel.info("RECORD")?;
        let mut record = OldRecord::read(&text);
        let mut zip = ZipWriter::new(sink, Timestamp::EARLIEST);
        let mut rows = Vec::new();
        for (name, source) in std::mem::take(&mut self.members) {
            let old = source.old();
            let digest = self.put(&mut zip, &name, source)?;
            let line = old.and_then(|index| record.take(&self.wheel.entries()[index].name));
            rows.extend(Row::new(line, name.as_str(), digest));
        }
        let place = format!("{}/RECORD", self.wheel.dist_info());
        if self.order == Order::Old {
            let directories = versioned(self.wheel.dist_info(), &self.dist_info);
            rows.extend(
                record.remaining_rows(self.wheel, &place, |path| renamed(&directories, path)),
            );
        }
        let name = format!("{info}RECORD");
        let content = MemberContent::text(record::text(rows, self.order, &name));
        let replaced = self.wheel.zip().find(&place).filter(|_| self.order == Order::Old);
        self.put(&mut zip, &name.parse()?, Source::New { replaced, content })?;
        Ok(zip.finish()?)
    }

    /// Returns the digest of new content.
    fn put<S: Sink>(
        &self,
        zip: &mut ZipWriter<S>,
        name: &RelPath,
        source: Source<'_>,
    ) -> Result<Option<Digest>, EditError> {
        let attributes = self.attributes(source.old())?;
        match source {
            Source::Kept { index, rehashed } => {
                let entry = &self.wheel.entries()[index];
                let mut packed = self.wheel.zip().packed(entry);
                let copy = |sink: &mut S| sink.copy_old(entry.data, &mut packed);
                let member = CopiedMember { mode: attributes.mode, ..copied(entry)? };
                zip.copy_by(name, &member, copy)?;
                rehashed.then(|| self.digest(entry)).transpose()
            }
            Source::Repacked { index, packing } => {
                let entry = &self.wheel.entries()[index];
                let read = |sink: &mut dyn io::Write| -> Result<(), Fault> {
                    io::copy(&mut self.wheel.member(entry)?, sink)
                        .map_err(|error| self.wheel.unread(&entry.name, error))?;
                    Ok(())
                };
                Stream::new(packing, Size::Exact(entry.size), read)
                    .write_to(zip, name, attributes)?;
                Ok(None)
            }
            Source::New { content: MemberContent::Packed(packed), .. } => {
                zip.copy(name, &attributes.copied_member(&packed), &mut &packed.bytes[..])?;
                Ok(Some(packed.digest))
            }
            Source::New { content: MemberContent::Stream(stream), .. } => {
                Ok(Some(stream.write_to(zip, name, attributes)?))
            }
        }
    }

    fn digest(&self, entry: &DirectoryEntry) -> Result<Digest, EditError> {
        let (mut hasher, mut member) = (Hasher::default(), self.wheel.member(entry)?);
        let mut block = vec![0; BLOCK];
        loop {
            let read = member.read(&mut block);
            match read.map_err(|error| self.wheel.unread(&entry.name, error))? {
                0 => return Ok(hasher.finish()),
                count => hasher.update(&block[..count]),
            }
        }
    }

    fn attributes(&self, old: Option<usize>) -> Result<Attributes, EditError> {
        let metadata = || self.wheel.zip().find(&format!("{}/METADATA", self.wheel.dist_info()));
        let Some(index) = old.or_else(metadata) else { return Ok(Attributes::default()) };
        let like = copied(&self.wheel.entries()[index])?;
        Ok(match old {
            Some(_) if self.is_mending => {
                Attributes { mode: like.mode & !UNSOUND, time: like.time }
            }
            Some(_) => Attributes { mode: like.mode, time: like.time },
            None => Attributes { time: like.time, ..Attributes::default() },
        })
    }
}

/// Replaces the version in `dist_info`.
pub fn with_version(dist_info: &str, version: &Version) -> String {
    let stem = stem(dist_info);
    let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
    format!("{name}-{version}.dist-info")
}

fn stem(dist_info: &str) -> &str {
    dist_info.strip_suffix(".dist-info").unwrap_or(dist_info)
}

fn absent(name: &str) -> EditError {
    EditError::Absent { name: name.to_owned() }
}

/// Old and new directories with a version in their names, each with its final `/`.
fn versioned(old: &str, new: &str) -> [(String, String); 2] {
    let (old, new) = (stem(old), stem(new));
    ["dist-info", "data"].map(|kind| (format!("{old}.{kind}/"), format!("{new}.{kind}/")))
}

fn renamed(directories: &[(String, String)], name: &str) -> Option<String> {
    directories
        .iter()
        .find_map(|(old, new)| Some(format!("{new}{}", name.strip_prefix(old.as_str())?)))
}
