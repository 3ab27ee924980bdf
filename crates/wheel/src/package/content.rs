//! What the bytes of a file in a package are. ELF files are kept, to be read in any order.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use binary::elf::ReadAt;

/// ELF files up to this size are kept in memory, larger ones in a file that has no name.
const IN_MEMORY: u64 = 16 << 20;
/// How much is read at once.
const BLOCK: usize = 128 << 10;

/// What a file is by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// It begins as ELF files do.
    Elf,
    /// It begins as PE files do, and programs of DOS.
    Pe,
    /// It begins as archives of objects do.
    Archive,
    /// It begins with `#!`.
    Script,
    /// Anything else.
    Data,
}

/// A file's bytes, of which the first are known.
#[derive(Debug)]
pub struct Content<R> {
    head: Vec<u8>,
    rest: R,
}

impl<R: Read> Content<R> {
    /// Looks at the first bytes.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn new(mut rest: R) -> io::Result<Self> {
        let mut head = Vec::with_capacity(4);
        rest.by_ref().take(4).read_to_end(&mut head)?;
        Ok(Self { head, rest })
    }

    /// What it is.
    pub fn kind(&self) -> ContentKind {
        match &self.head[..] {
            b"\x7fELF" => ContentKind::Elf,
            [b'M', b'Z', ..] => ContentKind::Pe,
            b"!<ar" => ContentKind::Archive,
            [b'#', b'!', ..] => ContentKind::Script,
            _ => ContentKind::Data,
        }
    }

    /// Writes all bytes into `sink`, which has those before an error too.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn copy_to(self, sink: &mut impl Write) -> io::Result<()> {
        sink.write_all(&self.head)?;
        io::copy(&mut BufReader::with_capacity(BLOCK, self.rest), sink).map(drop)
    }

    /// Keeps all bytes of a file that tells this size.
    ///
    /// # Errors
    /// When they cannot be read, or be kept.
    pub fn keep(self, size: u64) -> io::Result<Kept> {
        let mut kept = Kept::of_size(size)?;
        self.copy_to(&mut kept)?;
        Ok(kept)
    }
}

/// Bytes that can be read in any order.
#[derive(Debug)]
pub enum Kept {
    /// Those of a small file.
    Memory(Vec<u8>),
    /// Those of a large one.
    File(File),
}

impl Kept {
    /// A place for so many bytes.
    ///
    /// # Errors
    /// When there is no place for a temporary file.
    pub fn of_size(size: u64) -> io::Result<Self> {
        let small = size <= IN_MEMORY;
        Ok(if small { Self::Memory(Vec::new()) } else { Self::File(tempfile::tempfile()?) })
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Memory(all) => all.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReadAt for Kept {
    fn len(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => ReadAt::len(bytes),
            Self::File(file) => ReadAt::len(file),
        }
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.read_exact_at(offset, buf),
            Self::File(file) => ReadAt::read_exact_at(file, offset, buf),
        }
    }
}

/// A reader that shows what it reads to somebody else.
#[derive(Debug)]
pub struct Shown<R, S> {
    source: R,
    see: S,
}

impl<R: Read, S: FnMut(&[u8])> Shown<R, S> {
    /// Shows to `see` what is read from `source`.
    pub fn new(source: R, see: S) -> Self {
        Self { source, see }
    }
}

impl<R: Read, S: FnMut(&[u8])> Read for Shown<R, S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(out)?;
        (self.see)(&out[..count]);
        Ok(count)
    }
}
