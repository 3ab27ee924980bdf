use std::io::{self, Read};

use super::error::Fault;
use crate::archive::checksum::Digest;
use crate::archive::deflate::{Level, Method, Packed, deflate};
use crate::archive::tarball::{Preset, XzStream, xz_block};
use crate::package::directory::DirectoryEntry;
use crate::package::zip_file::LONGEST_TEXT;
use crate::package::{Wheel, xz};
use base::names::Compression;

/// Packing of a rewritten member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// No compression.
    Store,
    /// Compression with DEFLATE.
    Deflate(Level),
}

/// Levels of packages, in order of preference: several can give the bytes of a small member.
const LEVELS: [Level; 3] = [Level::Default, Level::Fast, Level::Max];

impl From<Compression> for Packing {
    fn from(compression: Compression) -> Self {
        match compression {
            Compression::Store => Self::Store,
            Compression::Fast => Self::Deflate(Level::Fast),
            Compression::Default => Self::Deflate(Level::Default),
            Compression::Max => Self::Deflate(Level::Max),
        }
    }
}

impl Packing {
    /// Packing of these members: stored if all are, otherwise the level that reproduces all deflated
    /// ones, or the default level if several or none do.
    ///
    /// Ignores members of more than [`LONGEST_TEXT`] bytes: they are never rewritten.
    pub fn of<'m>(wheel: &Wheel, members: impl Iterator<Item = &'m str>) -> io::Result<Self> {
        let entries = members.filter_map(|name| wheel.zip().find(name));
        let entries = entries.map(|index| &wheel.entries()[index]);
        let (stored, deflated): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.is_stored());
        if deflated.is_empty() && !stored.is_empty() {
            return Ok(Self::Store);
        }
        let mut fit = LEVELS.to_vec();
        for entry in deflated.into_iter().filter(|entry| entry.size <= LONGEST_TEXT) {
            let levels_of_entry = levels(wheel, entry)?;
            fit.retain(|level| levels_of_entry.contains(level));
        }
        Ok(Self::Deflate(fit.first().copied().unwrap_or_default()))
    }

    /// Packing that reproduces a member: stored if it is, otherwise this level if possible, then the
    /// first level that does, then the default level.
    ///
    /// A member of more than [`LONGEST_TEXT`] bytes is too long for a trial, and keeps this packing.
    pub fn of_member(self, wheel: &Wheel, entry: &DirectoryEntry) -> io::Result<Self> {
        if entry.is_stored() {
            return Ok(Self::Store);
        }
        if entry.size > LONGEST_TEXT {
            return Ok(self);
        }
        let levels_of_entry = levels(wheel, entry)?;
        match self {
            Self::Deflate(level) if levels_of_entry.contains(&level) => Ok(self),
            _ => Ok(Self::Deflate(levels_of_entry.first().copied().unwrap_or_default())),
        }
    }

    /// Packs a content. Deflates even if that does not make it smaller, as in a build.
    pub fn pack(self, content: &[u8]) -> Packed {
        match self {
            Self::Store => Packed::stored(content.to_vec()),
            Self::Deflate(level) => Packed {
                method: Method::Deflate,
                digest: Digest::of(content),
                bytes: deflate(content, level),
            },
        }
    }
}

fn levels(wheel: &Wheel, entry: &DirectoryEntry) -> io::Result<Vec<Level>> {
    let content = wheel.zip().bytes(entry, LONGEST_TEXT)?;
    let mut packed = Vec::new();
    wheel.zip().packed(entry).read_to_end(&mut packed)?;
    Ok(LEVELS.into_iter().filter(|level| deflate(&content, *level) == packed).collect())
}

/// Preset that reproduces the first block of an xz archive, or the default.
pub fn xz_preset(wheel: &Wheel, entry: &DirectoryEntry) -> Result<Preset, Fault> {
    // The default is the highest that packages have. It is first, because several presets can give
    // the bytes of a small archive.
    let presets = (0..=6).rev().filter_map(Preset::new);
    let largest = presets.clone().map(Preset::block).max().unwrap_or_default();
    let mut content = Vec::new();
    xz(wheel.member(entry)?)?.take(largest as u64).read_to_end(&mut content)?;
    for preset in presets {
        let block = xz_block(&content[..content.len().min(preset.block())], preset)?;
        let mut packed = vec![0; XzStream::START.len() + block.bytes.len()];
        let is_whole = wheel.zip().packed(entry).read_exact(&mut packed).is_ok();
        if is_whole && packed[XzStream::START.len()..] == block.bytes {
            return Ok(preset);
        }
    }
    Ok(Preset::DEFAULT)
}
