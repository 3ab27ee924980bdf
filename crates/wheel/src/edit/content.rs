use std::fmt;
use std::io::{self, Seek, Write};

use super::error::{EditError, Fault};
use super::packing::Packing;
use crate::archive::Timestamp;
use crate::archive::checksum::{Digest, Hasher};
use crate::archive::deflate::{BLOCK, Encoder, Level, Method, Packed};
use crate::archive::zip::{CopiedMember, ZipEntry, ZipError, ZipWriter};
use base::names::RelPath;

/// New content of a member.
#[derive(Debug)]
pub enum MemberContent<'c> {
    /// Packed bytes.
    Packed(Packed),
    /// Bytes from a function.
    Stream(Stream<'c>),
}

impl MemberContent<'_> {
    /// A text, deflated if that makes it smaller.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Packed(Packed::new(text.as_ref().as_bytes(), Level::Default))
    }
}

/// Size of unwritten content.
#[derive(Debug, Clone, Copy)]
pub enum Size {
    /// Exact size.
    Exact(u64),
    /// Upper limit, for stored members only.
    AtMost(u64),
}

type WriteContent<'c> = dyn FnOnce(&mut dyn Write) -> Result<(), Fault> + 'c;

/// Content from a function.
pub struct Stream<'c> {
    packing: Packing,
    size: Size,
    write: Box<WriteContent<'c>>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("packing", &self.packing).finish_non_exhaustive()
    }
}

impl<'c> Stream<'c> {
    /// Content of `size` that `write` gives.
    pub fn new(
        packing: Packing,
        size: Size,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Fault> + 'c,
    ) -> Self {
        Self { packing, size, write: Box::new(write) }
    }

    pub(super) fn write_to<W: Write + Seek>(
        self,
        zip: &mut ZipWriter<W>,
        name: &RelPath,
        Attributes { mode, time }: Attributes,
    ) -> Result<Digest, EditError> {
        let (encoder, method) = match self.packing {
            Packing::Store => (None, Method::Store),
            Packing::Deflate(level) => (Some(Encoder::new(level)), Method::Deflate),
        };
        let (size, exact) = match self.size {
            Size::Exact(size) => (size, true),
            Size::AtMost(size) => (size, false),
        };
        let entry = zip.start_with(name, mode, time, method, size, exact)?;
        let (waiting, hasher) = (Vec::new(), Hasher::default());
        let mut sink = MemberSink { zip, entry, encoder, waiting, hasher, failed: None };
        match (self.write)(&mut sink) {
            Ok(()) => {
                let digest = sink.end()?;
                if exact && digest.size != size {
                    let (name, written) = (name.clone(), digest.size);
                    return Err(ZipError::Size { name, announced: size, written }.into());
                }
                Ok(digest)
            }
            Err(fault) => Err(sink.failed.map_or(EditError::Content(fault), EditError::Zip)),
        }
    }
}

struct MemberSink<'z, W> {
    zip: &'z mut ZipWriter<W>,
    entry: ZipEntry,
    encoder: Option<Encoder>,
    waiting: Vec<u8>,
    hasher: Hasher,
    failed: Option<ZipError>,
}

impl<W: Write + Seek> MemberSink<'_, W> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), ZipError> {
        self.hasher.update(bytes);
        if self.encoder.is_none() {
            return self.zip.append(&mut self.entry, bytes);
        }
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() > BLOCK {
            self.block(BLOCK, false)?;
        }
        Ok(())
    }

    fn block(&mut self, count: usize, last: bool) -> Result<(), ZipError> {
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let packed = encoder.block(&self.waiting[..count], last);
        self.waiting.drain(..count);
        self.zip.append(&mut self.entry, &packed)
    }

    fn end(mut self) -> Result<Digest, ZipError> {
        self.block(self.waiting.len(), true)?;
        let digest = self.hasher.finish();
        self.zip.end(self.entry, digest.crc)?;
        Ok(digest)
    }
}

impl<W: Write + Seek> Write for MemberSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes).map_err(|error| {
            let text = io::Error::other(error.to_string());
            self.failed = Some(error);
            text
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Attributes {
    pub mode: u32,
    pub time: (u16, u16),
}

impl Default for Attributes {
    fn default() -> Self {
        Self { mode: 0o100_644, time: Timestamp::EARLIEST.dos() }
    }
}

impl Attributes {
    pub fn copied_member(self, packed: &Packed) -> CopiedMember {
        CopiedMember::of(packed, self.mode, self.time)
    }
}
