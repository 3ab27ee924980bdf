//! Zip writer for compressed members.
//!
//! The output can be unpacked as a stream: sizes and CRC are in local headers, without data
//! descriptors, directory entries, comments or unused bytes.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use indexmap::IndexMap;

use super::Timestamp;
pub use super::deflate::Method;
use super::deflate::Packed;
use base::names::RelPath;

mod header;
#[cfg(test)]
mod tests;

use header::{Header, MAX_32};

/// Error of writing an archive.
#[derive(Debug, thiserror::Error)]
pub enum ZipError {
    /// Duplicate member.
    #[error("the archive already has a member `{name}`")]
    Duplicate {
        /// Member.
        name: RelPath,
    },
    /// Unknown member.
    #[error("the archive has no member `{name}`")]
    Missing {
        /// Name.
        name: RelPath,
    },
    /// Too long name.
    #[error("the name of a member has {length} bytes; a zip allows 65535")]
    NameTooLong {
        /// Length in bytes.
        length: usize,
    },
    /// Wrong size.
    #[error("`{name}` has {written} bytes instead of the announced {announced}")]
    Size {
        /// Member.
        name: RelPath,
        /// Announced bytes.
        announced: u64,
        /// Written bytes.
        written: u64,
    },
    /// Incomplete member.
    #[error("`{name}` is incomplete, so the archive is broken")]
    Torn {
        /// Member.
        name: RelPath,
    },
    /// Failed output.
    #[error("failed to write {what} to the archive")]
    Write {
        /// Member or central directory.
        what: String,
        /// Cause.
        source: io::Error,
    },
}

impl ZipError {
    fn writing(what: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { what: what.to_string(), source }
    }
}

/// Writer to an empty `sink`.
#[derive(Debug)]
pub struct ZipWriter<W> {
    sink: W,
    position: u64,
    complete: u64,
    time: Timestamp,
    members: IndexMap<RelPath, Header>,
    open: Option<RelPath>,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// Creates an archive; all members have `time`.
    pub fn new(sink: W, time: Timestamp) -> Self {
        Self { sink, position: 0, complete: 0, time, members: IndexMap::new(), open: None }
    }

    /// Position of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Number of initial bytes that stay unchanged.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// Returns the output.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Position of a complete member's bytes.
    pub fn place(&self, name: &RelPath) -> Option<Range<u64>> {
        let header = self.members.get(name)?;
        let start = header.offset + header.local(name.as_str()).len() as u64;
        Some(start..start + header.compressed)
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> Result<(), ZipError> {
        self.sink.flush().map_err(ZipError::writing("what is buffered"))
    }

    /// Writes a complete member without seeking. `size` and `crc` are of the content.
    pub fn entry(
        &mut self,
        name: &RelPath,
        executable: bool,
        method: Method,
        size: u64,
        crc: u32,
        bytes: &[u8],
    ) -> Result<(), ZipError> {
        let compressed = bytes.len() as u64;
        check_stored(name, method, size, compressed)?;
        let zip64 = size >= MAX_32 || compressed >= MAX_32;
        let (mode, time) = (header::regular(executable), self.time.dos());
        let header =
            Header { mode, time, method, crc, size, compressed, offset: self.position, zip64 };
        self.begin(name, &header)?;
        self.write_record(name, bytes)?;
        self.close(name.clone(), header);
        Ok(())
    }

    /// Writes a member of another archive; `source` reads its packed bytes.
    pub fn copy(
        &mut self,
        name: &RelPath,
        member: &CopiedMember,
        source: &mut impl Read,
    ) -> Result<(), ZipError> {
        self.copy_by(name, member, |sink| io::copy(source, sink))
    }

    pub(crate) fn copy_by(
        &mut self,
        name: &RelPath,
        member: &CopiedMember,
        write: impl FnOnce(&mut W) -> io::Result<u64>,
    ) -> Result<(), ZipError> {
        let &CopiedMember { mode, time, method, crc, size, compressed } = member;
        check_stored(name, method, size, compressed)?;
        // As in a build, which does not know `compressed` yet, so that copies are byte-identical.
        let zip64 = worst_case(method, size).max(compressed) >= MAX_32;
        let header =
            Header { mode, time, method, crc, size, compressed, offset: self.position, zip64 };
        self.begin(name, &header)?;
        let count = write(&mut self.sink).map_err(ZipError::writing(name))?;
        if count != compressed {
            return Err(ZipError::Size {
                name: name.clone(),
                announced: compressed,
                written: count,
            });
        }
        self.position += count;
        self.close(name.clone(), header);
        Ok(())
    }

    /// `source` reads packed bytes of `first`.
    pub fn repeat(
        &mut self,
        name: &RelPath,
        executable: bool,
        first: &RelPath,
        source: &mut impl Read,
    ) -> Result<(), ZipError> {
        let Some(&Header { method, crc, size, compressed, .. }) = self.members.get(first) else {
            return Err(ZipError::Missing { name: first.clone() });
        };
        let (mode, time) = (header::regular(executable), self.time.dos());
        self.copy(name, &CopiedMember { mode, time, method, crc, size, compressed }, source)
    }

    /// Starts a member; end it before other calls.
    pub fn start(
        &mut self,
        name: &RelPath,
        executable: bool,
        method: Method,
        size: u64,
    ) -> Result<ZipEntry, ZipError> {
        let (mode, time) = (header::regular(executable), self.time.dos());
        self.start_with(name, mode, time, method, size, true)
    }

    /// Starts a stored member.
    pub fn start_up_to(
        &mut self,
        name: &RelPath,
        executable: bool,
        most: u64,
    ) -> Result<ZipEntry, ZipError> {
        let (mode, time) = (header::regular(executable), self.time.dos());
        self.start_with(name, mode, time, Method::Store, most, false)
    }

    /// Starts a member. `size` is exact, or an upper limit for a stored member.
    pub fn start_with(
        &mut self,
        name: &RelPath,
        mode: u32,
        time: (u16, u16),
        method: Method,
        size: u64,
        exact: bool,
    ) -> Result<ZipEntry, ZipError> {
        let zip64 = worst_case(method, size) >= MAX_32;
        let header = Header {
            mode,
            time,
            method,
            crc: 0,
            size,
            compressed: 0,
            offset: self.position,
            zip64,
        };
        self.begin(name, &header)?;
        Ok(ZipEntry { name: name.clone(), header, exact })
    }

    /// Appends bytes.
    pub fn append(&mut self, entry: &mut ZipEntry, bytes: &[u8]) -> Result<(), ZipError> {
        entry.header.compressed += bytes.len() as u64;
        self.write_record(&entry.name, bytes)
    }

    /// Ends the member.
    pub fn end(&mut self, entry: ZipEntry, crc: u32) -> Result<(), ZipError> {
        let ZipEntry { name, mut header, exact } = entry;
        if exact {
            check_stored(&name, header.method, header.size, header.compressed)?;
        } else if header.compressed > header.size {
            return Err(ZipError::Size {
                name,
                announced: header.size,
                written: header.compressed,
            });
        } else {
            header.size = header.compressed;
        }
        if header.compressed >= MAX_32 && !header.zip64 {
            return Err(ZipError::Size {
                name,
                announced: worst_case(header.method, header.size),
                written: header.compressed,
            });
        }
        header.crc = crc;
        self.amend(&name, &header).map_err(ZipError::writing(&name))?;
        self.close(name, header);
        Ok(())
    }

    /// Writes the directory, and returns the flushed output.
    pub fn finish(mut self) -> Result<W, ZipError> {
        self.check_whole()?;
        let failed = || ZipError::writing("the directory");
        let directory = self.position;
        let mut length = 0;
        for (name, header) in &self.members {
            let bytes = header.central(name.as_str());
            self.sink.write_all(&bytes).map_err(failed())?;
            length += bytes.len() as u64;
        }
        let end = header::end(self.members.len(), directory, length);
        self.sink.write_all(&end).and_then(|()| self.sink.flush()).map_err(failed())?;
        Ok(self.sink)
    }

    fn begin(&mut self, name: &RelPath, header: &Header) -> Result<(), ZipError> {
        self.check_whole()?;
        if self.members.contains_key(name) {
            return Err(ZipError::Duplicate { name: name.clone() });
        }
        let length = name.as_str().len();
        if length > usize::from(u16::MAX) {
            return Err(ZipError::NameTooLong { length });
        }
        self.open = Some(name.clone());
        self.write_record(name, &header.local(name.as_str()))
    }

    fn write_record(&mut self, name: &RelPath, bytes: &[u8]) -> Result<(), ZipError> {
        self.sink.write_all(bytes).map_err(ZipError::writing(name))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn close(&mut self, name: RelPath, header: Header) {
        self.open = None;
        self.complete = self.position;
        self.members.insert(name, header);
    }

    fn check_whole(&self) -> Result<(), ZipError> {
        self.open.clone().map_or(Ok(()), |name| Err(ZipError::Torn { name }))
    }

    fn amend(&mut self, name: &RelPath, header: &Header) -> io::Result<()> {
        let bytes = header.local(name.as_str());
        self.sink.seek(SeekFrom::Start(header.offset))?;
        self.sink.write_all(&bytes)?;
        self.sink.seek(SeekFrom::Start(self.position))?;
        Ok(())
    }
}

/// Header fields of a packed member.
#[derive(Debug, Clone, Copy)]
pub struct CopiedMember {
    /// `st_mode`: type and permissions.
    pub mode: u32,
    /// Time and date in MS-DOS format.
    pub time: (u16, u16),
    /// Storage method.
    pub method: Method,
    /// CRC-32 of the content.
    pub crc: u32,
    /// Size of the content in bytes.
    pub size: u64,
    /// Packed size in bytes.
    pub compressed: u64,
}

impl CopiedMember {
    /// Takes content from `packed`, and mode and time as given.
    pub fn of(packed: &Packed, mode: u32, time: (u16, u16)) -> Self {
        let Packed { method, digest, bytes } = packed;
        let compressed = bytes.len() as u64;
        Self { mode, time, method: *method, crc: digest.crc, size: digest.size, compressed }
    }
}

/// Open member.
#[derive(Debug)]
pub struct ZipEntry {
    name: RelPath,
    header: Header,
    exact: bool,
}

fn check_stored(name: &RelPath, method: Method, size: u64, written: u64) -> Result<(), ZipError> {
    match method {
        Method::Store if written != size => {
            Err(ZipError::Size { name: name.clone(), announced: size, written })
        }
        Method::Store | Method::Deflate => Ok(()),
    }
}

/// Upper bound: fixed Huffman codes need at most 9 bits per byte; flushes and block
/// headers add far less than the second term.
fn worst_case(method: Method, size: u64) -> u64 {
    match method {
        Method::Store => size,
        Method::Deflate => size.saturating_add(size / 7).saturating_add(1024),
    }
}
