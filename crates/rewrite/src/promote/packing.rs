//! How members were packed, found out from what they are: the same content gives the same bytes.

use std::io::{self, Read, Seek, Write};

use super::error::WriteError;
use base::names::RelPath;
use wheel::archive::checksum::{Digest, Hasher};
use wheel::archive::deflate::{self, BLOCK, Encoder, Level, Method, Packed, deflate};
use wheel::archive::tarball::{Preset, XzStream, xz_block, xz_worst_case};
use wheel::archive::zip::{ZipEntry, ZipError, ZipWriter};
use wheel::package::Wheel;
use wheel::package::directory::DirectoryEntry;
use wheel::package::zip_file::LONGEST_TEXT;

/// How the texts of a wheel are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// They are stored.
    Store,
    /// They are deflated at this level.
    Deflate(Level),
}

/// Levels in the order in which they are tried.
const LEVELS: [Level; 3] = [Level::Default, Level::Fast, Level::Max];

/// The levels at which a member's content gives the bytes that it has.
fn levels(wheel: &Wheel, entry: &DirectoryEntry) -> io::Result<Vec<Level>> {
    let content = wheel.zip().bytes(entry, LONGEST_TEXT)?;
    let mut packed = Vec::new();
    wheel.zip().packed(entry).read_to_end(&mut packed)?;
    Ok(LEVELS.into_iter().filter(|level| deflate(&content, *level) == packed).collect())
}

impl Packing {
    /// How rockpack packed what it wrote into a wheel: `members` are such texts. Where nothing tells, as
    /// it does when nobody says otherwise.
    pub fn of<'m>(wheel: &Wheel, members: impl Iterator<Item = &'m str>) -> io::Result<Self> {
        let mut fit = LEVELS.to_vec();
        for entry in
            members.filter_map(|name| wheel.zip().find(name).map(|at| &wheel.entries()[at]))
        {
            if entry.is_stored() {
                return Ok(Self::Store);
            }
            if entry.size <= LONGEST_TEXT {
                let own = levels(wheel, entry)?;
                fit.retain(|level| own.contains(level));
            }
        }
        Ok(Self::Deflate(fit.first().copied().unwrap_or_default()))
    }

    /// How one of its members is packed: as it was, at the level of the wheel where several fit.
    pub fn of_member(self, wheel: &Wheel, entry: &DirectoryEntry) -> io::Result<Self> {
        if entry.is_stored() {
            return Ok(Self::Store);
        }
        let own = if entry.size <= LONGEST_TEXT { levels(wheel, entry)? } else { Vec::new() };
        match self {
            Self::Deflate(level) if own.contains(&level) => Ok(self),
            _ => Ok(Self::Deflate(own.first().copied().unwrap_or_default())),
        }
    }

    /// Packs a member.
    pub fn pack(self, content: &[u8]) -> Packed {
        match self {
            Self::Store => Packed::stored(content.to_vec()),
            // As a build does: also where it does not become smaller.
            Self::Deflate(level) => Packed {
                method: Method::Deflate,
                digest: Digest::of(content),
                bytes: deflate::deflate(content, level),
            },
        }
    }
}

/// How an archive is packed, block after block.
enum Blocks {
    Store,
    Deflate(Box<Encoder>),
    Xz(Preset, XzStream),
}

impl Blocks {
    fn size(&self) -> usize {
        match self {
            Self::Store | Self::Deflate(_) => BLOCK,
            Self::Xz(preset, _) => preset.block(),
        }
    }
}

/// Packs what is written to it into a member of a zip, as a build packs archives.
pub(super) struct ArchiveSink<'z, W> {
    zip: &'z mut ZipWriter<W>,
    entry: ZipEntry,
    blocks: Blocks,
    pending: Vec<u8>,
    hasher: Hasher,
    /// Why the zip could not be written, if it could not.
    failed: Option<WriteError>,
}

impl<'z, W: Write + Seek> ArchiveSink<'z, W> {
    /// A member for a tar archive of `size` bytes, packed as the wheel's texts are.
    pub fn plain(
        zip: &'z mut ZipWriter<W>,
        name: &RelPath,
        packing: Packing,
        size: u64,
    ) -> Result<Self, ZipError> {
        let (blocks, method) = match packing {
            Packing::Store => (Blocks::Store, Method::Store),
            Packing::Deflate(level) => {
                (Blocks::Deflate(Box::new(Encoder::new(level))), Method::Deflate)
            }
        };
        let entry = zip.start(name, false, method, size)?;
        Ok(Self::new(zip, entry, blocks))
    }

    /// The same, compressed by xz.
    pub fn xz(
        zip: &'z mut ZipWriter<W>,
        name: &RelPath,
        preset: Preset,
        size: u64,
    ) -> Result<Self, ZipError> {
        let entry = zip.start_up_to(name, false, xz_worst_case(size))?;
        let mut sink = Self::new(zip, entry, Blocks::Xz(preset, XzStream::default()));
        sink.hasher.update(&XzStream::START);
        sink.zip.append(&mut sink.entry, &XzStream::START)?;
        Ok(sink)
    }

    fn new(zip: &'z mut ZipWriter<W>, entry: ZipEntry, blocks: Blocks) -> Self {
        let (pending, hasher, failed) = Default::default();
        Self { zip, entry, blocks, pending, hasher, failed }
    }

    /// Packs the first bytes that wait.
    fn block(&mut self, count: usize, last: bool) -> Result<(), WriteError> {
        let content: Vec<u8> = self.pending.drain(..count).collect();
        let packed = match &mut self.blocks {
            Blocks::Store => content.clone(),
            Blocks::Deflate(encoder) => encoder.block(&content, last),
            Blocks::Xz(preset, stream) => {
                let block = xz_block(&content, *preset)?;
                stream.add(&block);
                self.hasher.update(&block.bytes);
                block.bytes
            }
        };
        if !matches!(self.blocks, Blocks::Xz(..)) {
            self.hasher.update(&content);
        }
        Ok(self.zip.append(&mut self.entry, &packed)?)
    }

    /// Why writing failed, if it did.
    pub fn failure(&mut self) -> Option<WriteError> {
        self.failed.take()
    }

    /// Ends the member; its digest.
    pub fn end(mut self) -> Result<Digest, WriteError> {
        let rest = self.pending.len();
        if rest > 0 {
            self.block(rest, true)?;
        }
        if let Blocks::Xz(_, stream) = &self.blocks {
            let end = stream.end();
            self.hasher.update(&end);
            self.zip.append(&mut self.entry, &end)?;
        }
        let digest = self.hasher.finish();
        self.zip.end(self.entry, digest.crc)?;
        Ok(digest)
    }
}

impl<W: Write + Seek> Write for ArchiveSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        // A full block waits: it can be the last one.
        while self.pending.len() > self.blocks.size() {
            self.block(self.blocks.size(), false).map_err(|error| {
                let text = io::Error::other(error.to_string());
                self.failed = Some(error);
                text
            })?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The preset that an xz archive was made with: the one that makes its first block again.
pub(super) fn preset(wheel: &Wheel, name: &str) -> Result<Preset, WriteError> {
    let Some(index) = wheel.zip().find(name) else { return Ok(Preset::DEFAULT) };
    let entry = &wheel.entries()[index];
    let presets = (0..=6).rev().filter_map(Preset::new);
    let largest = presets.clone().map(Preset::block).max().unwrap_or_default();
    let mut content = Vec::new();
    let unpacked = wheel::package::xz(wheel.zip().member(entry)?)?;
    unpacked.take(largest as u64).read_to_end(&mut content)?;
    for preset in presets {
        let made = xz_block(&content[..content.len().min(preset.block())], preset)?;
        let mut packed = vec![0; XzStream::START.len() + made.bytes.len()];
        let is_whole = wheel.zip().packed(entry).read_exact(&mut packed).is_ok();
        if is_whole && packed[XzStream::START.len()..] == made.bytes {
            return Ok(preset);
        }
    }
    Ok(Preset::DEFAULT)
}
