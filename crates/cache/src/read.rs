use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use flate2::bufread::DeflateDecoder;
use fs_err::File;

use super::store::PIECE;
use super::{Cache, CacheEntry};
use wheel::archive::checksum::{Checksum, Digest, Hasher};
use wheel::archive::deflate::Method;

/// Fault of a stream.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// Read error.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// Wrong checksum.
    #[error("its packed bytes changed")]
    Packed,
    /// Not exactly one deflate stream.
    #[error("it is not one complete deflate stream")]
    Stream,
    /// Wrong content.
    #[error("it is a stream of other content")]
    Content,
}

impl Cache {
    /// `offset` is relative to the stream's start.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] beyond the stream.
    pub fn read_exact_at(
        &self,
        entry: &CacheEntry,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let inside =
            offset.checked_add(buffer.len() as u64).is_some_and(|end| end <= entry.packed_len);
        if !inside {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (file, start) = self.file_of(entry);
        file.file().read_exact_at(buffer, start + offset)
    }

    /// File and offset of the packed bytes. The file stays readable after removal.
    pub fn file_of(&self, entry: &CacheEntry) -> (&File, u64) {
        match self.slots.get(entry.slot) {
            Some(slot) => (&self.segments[slot.segment].file, slot.offset),
            None => self.imports.place(entry),
        }
    }

    /// Reader of the packed bytes.
    pub fn packed(&self, entry: &CacheEntry) -> PackedBytes<'_> {
        let (file, offset) = self.file_of(entry);
        PackedBytes::new(file, offset, entry.packed_len)
    }

    /// Compares packed bytes and content with checksums, without [`Cache::reject`].
    pub fn verify(&self, entry: &CacheEntry) -> Result<(), Damage> {
        let (crc, content) = match entry.method {
            Method::Store => self.digest_stored(entry)?,
            Method::Deflate => digest_deflated(self.packed(entry), entry.digest.size)?,
        };
        match content {
            _ if crc != entry.packed_crc => Err(Damage::Packed),
            None => Err(Damage::Stream),
            Some(content) if content != entry.digest => Err(Damage::Content),
            Some(_) => Ok(()),
        }
    }

    fn digest_stored(&self, entry: &CacheEntry) -> Result<(u32, Option<Digest>), Damage> {
        let mut hasher = Hasher::default();
        each_piece(self.packed(entry), &mut vec![0; PIECE], |piece| hasher.update(piece))
            .map_err(Damage::Read)?;
        let digest = hasher.finish();
        Ok((digest.crc, Some(digest)))
    }
}

/// CRC-32 of all packed bytes, and the digest of the content if they are exactly one deflate stream
/// of at most `most` bytes.
pub(super) fn digest_deflated(
    packed: PackedBytes<'_>,
    most: u64,
) -> Result<(u32, Option<Digest>), Damage> {
    let packed_len = packed.remaining;
    let mut source = Observed { inner: packed, crc: Checksum::default(), failed: None };
    let mut hasher = Hasher::default();
    let mut decoder = DeflateDecoder::new(io::BufReader::with_capacity(PIECE, &mut source));
    // One more byte proves excess.
    let bounded = (&mut decoder).take(most.saturating_add(1));
    let inflated = each_piece(bounded, &mut vec![0; PIECE], |piece| hasher.update(piece));
    let whole = inflated.is_ok() && is_at_end(&mut decoder) && decoder.total_in() == packed_len;
    drop(decoder);
    // Bytes that the decoder left.
    let rest = each_piece(&mut source, &mut vec![0; PIECE], |_| ());
    match source.failed.take().or(rest.err()) {
        Some(error) => Err(Damage::Read(error)),
        None => Ok((source.crc.value(), whole.then(|| hasher.finish()))),
    }
}

fn is_at_end(source: &mut impl Read) -> bool {
    matches!(source.read(&mut [0]), Ok(0))
}

fn each_piece(
    mut source: impl Read,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> io::Result<()> {
    loop {
        match source.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => each(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reader of packed bytes by position, so that several can share a file.
#[derive(Debug)]
pub struct PackedBytes<'a> {
    file: &'a File,
    offset: u64,
    remaining: u64,
}

impl<'a> PackedBytes<'a> {
    /// Reads `length` bytes of `file` from `offset` on.
    pub fn new(file: &'a File, offset: u64, length: u64) -> Self {
        Self { file, offset, remaining: length }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.remaining == 0
    }
}

impl Read for PackedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.file().read_at(&mut buffer[..most], self.offset)?;
        if count == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.offset += count as u64;
        self.remaining -= count as u64;
        Ok(count)
    }
}

/// Packed bytes with a running checksum; keeps read errors apart from the decoder's.
struct Observed<'a> {
    inner: PackedBytes<'a>,
    crc: Checksum,
    failed: Option<io::Error>,
}

impl Read for &mut Observed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(count) => {
                self.crc.update(&buffer[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed.get_or_insert(error);
                Err(kind.into())
            }
        }
    }
}
