//! One member, read once from front to back.

use std::io::{self, BufReader, Read, Write};

use flate2::bufread::DeflateDecoder;
use sha2::digest::DynDigest;

use super::elf::{Binary, binary};
use super::record::Algorithm;
use crate::archive::directory::Entry;
use crate::elf::ReadAt;

/// Bytes that are read and hashed at once.
const BLOCK: usize = 128 << 10;
/// ELF files up to this size are looked at in memory, larger ones in a file that has no name.
const IN_MEMORY: u64 = 16 << 20;

/// What is known of a member's bytes.
#[derive(Debug)]
pub struct Member {
    /// The hash that RECORD asks for.
    pub(super) digest: Vec<u8>,
    /// How many bytes there are.
    pub(super) size: u64,
    /// Why they are not what the archive says.
    pub(super) fault: Option<String>,
    pub(super) kind: Kind,
}

/// What a file is to who starts it.
#[derive(Debug)]
pub(super) enum Kind {
    Data,
    /// It begins with `#!`.
    Script,
    Elf(Binary),
    /// It begins as ELF files do.
    BrokenElf(String),
}

/// Some bytes of a file.
pub(super) struct Window<'f, F: ?Sized> {
    pub file: &'f F,
    pub start: u64,
    pub len: u64,
}

impl<F: ReadAt + ?Sized> ReadAt for Window<'_, F> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.len);
        end.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_exact_at(self.start + offset, buf)
    }
}

/// A window that is read from its front on.
struct Cursor<'f, F: ?Sized> {
    window: Window<'f, F>,
    at: u64,
}

impl<F: ReadAt + ?Sized> Read for Cursor<'_, F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.window.len - self.at).unwrap_or(usize::MAX);
        let count = buf.len().min(left);
        self.window.read_exact_at(self.at, &mut buf[..count])?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Reads a member, which is hashed by `algorithm`.
///
/// # Errors
/// When the file cannot be read. Bytes that do not unpack are a fault of the member.
pub(super) fn read(
    file: &(impl ReadAt + ?Sized),
    entry: &Entry,
    algorithm: Algorithm,
) -> io::Result<Member> {
    let window = || Window { file, start: entry.data, len: entry.compressed };
    let mut content = BufReader::with_capacity(BLOCK, Cursor { window: window(), at: 0 });
    if entry.is_stored() {
        let mut taken = Taken::new(entry, algorithm, None);
        let copied = taken.copy(&mut content);
        let kind = taken.kind(Some(&window()));
        return taken.finish(copied, kind);
    }
    let mut content = DeflateDecoder::new(content);
    let mut taken = Taken::new(entry, algorithm, Some(Kept::Nothing));
    let copied = taken.copy(&mut content);
    if content.total_in() != entry.compressed && taken.fault.is_none() {
        taken.fault = Some("its compressed bytes end before their end".to_owned());
    }
    let kind = taken.kind(None::<&Window<'_, [u8]>>);
    taken.finish(copied, kind)
}

/// A member's bytes so far.
struct Taken<'e> {
    entry: &'e Entry,
    hash: Box<dyn DynDigest>,
    crc32: crc32fast::Hasher,
    size: u64,
    head: Vec<u8>,
    /// Where the bytes of ELF files go that cannot be looked at in place.
    kept: Option<Kept>,
    fault: Option<String>,
}

enum Kept {
    Nothing,
    Memory(Vec<u8>),
    File(std::fs::File),
}

impl<'e> Taken<'e> {
    fn new(entry: &'e Entry, algorithm: Algorithm, kept: Option<Kept>) -> Self {
        let crc32 = crc32fast::Hasher::new();
        Self {
            entry,
            hash: algorithm.hasher(),
            crc32,
            size: 0,
            head: Vec::new(),
            kept,
            fault: None,
        }
    }

    /// Reads all there is, and one byte more than there may be at most.
    fn copy(&mut self, content: &mut impl Read) -> io::Result<()> {
        let mut content = content.take(self.entry.size.saturating_add(1));
        let mut block = vec![0; BLOCK];
        loop {
            match content.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(count) => self.add(&block[..count])?,
                Err(error) if unpacking(&error) => {
                    self.fault = Some("its bytes cannot be unpacked".to_owned());
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.crc32.update(bytes);
        self.size += bytes.len() as u64;
        if self.head.len() < 4 {
            // A first block shorter than this is the whole of a shorter file, but for tiny deflate blocks.
            self.head.extend(bytes.iter().take(4 - self.head.len()));
        }
        let is_elf = self.head == b"\x7fELF";
        match &mut self.kept {
            Some(kept) if is_elf => kept.add(bytes, self.entry.size, &self.head, self.size),
            _ => Ok(()),
        }
    }

    fn kind(&self, in_place: Option<&(impl ReadAt + ?Sized)>) -> Kind {
        if self.head.starts_with(b"#!") {
            return Kind::Script;
        }
        if self.head != b"\x7fELF" {
            return Kind::Data;
        }
        match (&self.kept, in_place) {
            (Some(Kept::Memory(bytes)), _) => binary(bytes),
            (Some(Kept::File(file)), _) => binary(file),
            (_, Some(file)) => binary(file),
            (_, None) => Kind::Data,
        }
    }

    fn finish(mut self, copied: io::Result<()>, kind: Kind) -> io::Result<Member> {
        copied?;
        let entry = self.entry;
        if self.size > entry.size {
            self.fault.get_or_insert_with(|| {
                format!("it has more than the {} bytes that the archive tells", entry.size)
            });
        } else if self.size < entry.size {
            self.fault.get_or_insert_with(|| {
                format!("it has {} bytes, and the archive tells {}", self.size, entry.size)
            });
        } else if self.crc32.clone().finalize() != entry.crc32 {
            self.fault.get_or_insert_with(|| "its CRC-32 is another".to_owned());
        }
        Ok(Member {
            digest: self.hash.finalize().into_vec(),
            size: self.size,
            fault: self.fault,
            kind,
        })
    }
}

impl Kept {
    /// Keeps more of a file of `size` bytes, of which `so_far` have been read with these.
    fn add(&mut self, bytes: &[u8], size: u64, head: &[u8], so_far: u64) -> io::Result<()> {
        if let Self::Nothing = self {
            *self = if size <= IN_MEMORY {
                Self::Memory(Vec::new())
            } else {
                Self::File(tempfile::tempfile()?)
            };
            // What came before the head was whole.
            let before = usize::try_from(so_far - bytes.len() as u64).unwrap_or_default();
            self.write(&head[..before.min(head.len())])?;
        }
        self.write(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Nothing => {}
            Self::Memory(all) => all.extend_from_slice(bytes),
            Self::File(file) => file.write_all(bytes)?,
        }
        Ok(())
    }
}

/// Whether the bytes are at fault, and not the disk.
fn unpacking(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}
