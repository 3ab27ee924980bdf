//! Kinds of file content, and buffers for random access.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use binary::elf::ReadAt;

/// Larger ELF files are kept in an unnamed temporary file.
const IN_MEMORY: u64 = 16 << 20;
/// The longest signature: of offload bundles.
const START: usize = 24;
const BLOCK: usize = 128 << 10;

/// Kind of a file by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// ELF file.
    Elf,
    /// PE file or DOS program.
    Pe,
    /// Archive of objects.
    Archive,
    /// Script with `#!`.
    Script,
    /// Any other content.
    Data,
}

/// Content of a file with its first bytes already read.
#[derive(Debug)]
pub struct FileContent<R> {
    head: Vec<u8>,
    rest: R,
}

impl<R: Read> FileContent<R> {
    /// Reads the first bytes.
    pub fn new(mut rest: R) -> io::Result<Self> {
        let mut head = Vec::with_capacity(START);
        rest.by_ref().take(START as u64).read_to_end(&mut head)?;
        Ok(Self { head, rest })
    }

    /// Kind of the content.
    pub fn kind(&self) -> ContentKind {
        match &self.head[..] {
            [0x7f, b'E', b'L', b'F', ..] => ContentKind::Elf,
            [b'M', b'Z', ..] => ContentKind::Pe,
            [b'!', b'<', b'a', b'r', ..] => ContentKind::Archive,
            [b'#', b'!', ..] => ContentKind::Script,
            _ => ContentKind::Data,
        }
    }

    /// The first bytes: all that identify a container of device code.
    pub fn start(&self) -> &[u8] {
        &self.head
    }

    /// Writes all bytes, including those before an error.
    pub fn copy_to(self, sink: &mut impl Write) -> io::Result<()> {
        sink.write_all(&self.head)?;
        io::copy(&mut BufReader::with_capacity(BLOCK, self.rest), sink).map(drop)
    }

    /// Buffers all bytes of a file with the declared `size`.
    pub fn keep(self, size: u64) -> io::Result<BufferedContent> {
        let mut copy = BufferedContent::of_size(size)?;
        self.copy_to(&mut copy)?;
        Ok(copy)
    }
}

/// Buffered bytes with random access.
#[derive(Debug)]
pub enum BufferedContent {
    /// Content of a small file.
    Memory(Vec<u8>),
    /// Content of a large file.
    File(File),
}

impl BufferedContent {
    /// Creates an empty buffer for bytes of this size: in memory if it is small, otherwise an
    /// unnamed file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created.
    pub fn of_size(size: u64) -> io::Result<Self> {
        let small = size <= IN_MEMORY;
        Ok(if small { Self::Memory(Vec::new()) } else { Self::File(tempfile::tempfile()?) })
    }
}

impl Write for BufferedContent {
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

impl ReadAt for BufferedContent {
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

/// Reader that passes all bytes to a function.
#[derive(Debug)]
pub struct ObservedReader<R, S> {
    source: R,
    see: S,
}

impl<R: Read, S: FnMut(&[u8])> ObservedReader<R, S> {
    /// Passes bytes read from `source` to `see`.
    pub fn new(source: R, see: S) -> Self {
        Self { source, see }
    }
}

impl<R: Read, S: FnMut(&[u8])> Read for ObservedReader<R, S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(out)?;
        (self.see)(&out[..count]);
        Ok(count)
    }
}
