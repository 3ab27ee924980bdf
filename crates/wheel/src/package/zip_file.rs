//! Reader of zip files: directory, and sequential members.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

use flate2::bufread::DeflateDecoder;

use super::directory::{Directory, DirectoryEntry};
use base::pooled::PooledFile;
use binary::elf::ReadAt;

/// Limit of texts read whole, such as METADATA, WHEEL and PKG-INFO, in bytes.
pub const LONGEST_TEXT: u64 = 2 << 20;
/// Limit of RECORD, which has a row per member, in bytes.
pub const LONGEST_RECORD: u64 = 32 << 20;

const BLOCK: usize = 128 << 10;

/// Zip with its directory.
#[derive(Debug)]
pub struct ZipFile {
    file: PooledFile,
    directory: Directory,
}

impl ZipFile {
    /// Combines a file with its directory.
    pub fn new(file: PooledFile, directory: Directory) -> Self {
        Self { file, directory }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Members in directory order.
    pub fn entries(&self) -> &[DirectoryEntry] {
        &self.directory.entries
    }

    /// Index of the member `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.directory.find(name)
    }

    /// Reader of the packed bytes.
    pub fn packed(&self, entry: &DirectoryEntry) -> Section<'_> {
        Section {
            file: &self.file,
            open: OnceLock::new(),
            at: entry.data,
            end: entry.data + entry.compressed,
        }
    }

    /// Reader that checks size and CRC-32 at the end.
    pub fn member(&self, entry: &DirectoryEntry) -> io::Result<Unpacked<'_>> {
        match entry.method {
            _ if entry.is_encrypted() => Err(broken("it is encrypted".to_owned())),
            0 | 8 => Ok(self.unpacked(entry)),
            method => Err(broken(format!("its compression method {method} is unknown"))),
        }
    }

    /// Reads like [`ZipFile::member`], but treats every method except stored as deflate.
    pub fn unpacked(&self, entry: &DirectoryEntry) -> Unpacked<'_> {
        let packed = BufReader::with_capacity(BLOCK, self.packed(entry));
        let source = if entry.is_stored() {
            Source::Stored(packed)
        } else {
            Source::Deflated(DeflateDecoder::new(packed))
        };
        Unpacked {
            source,
            size: entry.size,
            compressed: entry.compressed,
            crc32: entry.crc32,
            read: 0,
            hasher: crc32fast::Hasher::new(),
        }
    }

    /// Regardless of the declared size.
    pub fn bytes(&self, entry: &DirectoryEntry, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One more byte detects longer members and triggers the check of size and CRC-32.
        self.member(entry)?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(broken(format!("it is longer than the limit of {} MiB", most >> 20)));
        }
        Ok(bytes)
    }
}

fn broken(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Returns whether an error comes from the bytes of an archive, and not from the system that reads
/// them.
pub fn is_broken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

fn not_unpacked(error: io::Error) -> io::Error {
    if is_broken(&error) { broken("its bytes cannot be unpacked".to_owned()) } else { error }
}

/// Reader of a byte range of a file.
#[derive(Debug)]
pub struct Section<'f> {
    file: &'f PooledFile,
    open: OnceLock<Arc<File>>,
    at: u64,
    end: u64,
}

impl Section<'_> {
    fn open(&self) -> io::Result<&File> {
        if let Some(file) = self.open.get() {
            return Ok(file);
        }
        let file = self.file.get()?;
        Ok(self.open.get_or_init(|| file))
    }
}

impl Read for Section<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let remaining = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let count_wanted = out.len().min(remaining);
        let count = self.open()?.read_at(&mut out[..count_wanted], self.at)?;
        if count == 0 && count_wanted > 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl ReadAt for Section<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.end - self.at)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.end - self.at);
        end.ok_or(ErrorKind::UnexpectedEof)?;
        ReadAt::read_exact_at(self.open()?, self.at + offset, buf)
    }
}

/// Reader of an unpacked member.
#[derive(Debug)]
pub struct Unpacked<'f> {
    source: Source<'f>,
    size: u64,
    compressed: u64,
    crc32: u32,
    read: u64,
    hasher: crc32fast::Hasher,
}

#[derive(Debug)]
enum Source<'f> {
    Stored(BufReader<Section<'f>>),
    Deflated(DeflateDecoder<BufReader<Section<'f>>>),
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.source {
            Source::Stored(source) => source.read(out),
            Source::Deflated(source) => source.read(out),
        };
        let count = count.map_err(not_unpacked)?;
        self.hasher.update(&out[..count]);
        self.read += count as u64;
        if self.read > self.size {
            let recorded = self.size;
            return Err(broken(format!("it has more than the recorded {recorded} bytes")));
        }
        if count == 0 && !out.is_empty() {
            self.check()?;
        }
        Ok(count)
    }
}

impl Unpacked<'_> {
    fn check(&self) -> io::Result<()> {
        if self.read < self.size {
            let (read, recorded) = (self.read, self.size);
            return Err(broken(format!("it has {read} bytes instead of the recorded {recorded}")));
        }
        if matches!(&self.source, Source::Deflated(source) if source.total_in() != self.compressed)
        {
            return Err(broken("its compressed data is truncated".to_owned()));
        }
        let is_equal = self.hasher.clone().finalize() == self.crc32;
        if is_equal { Ok(()) } else { Err(broken("its CRC-32 is wrong".to_owned())) }
    }
}
