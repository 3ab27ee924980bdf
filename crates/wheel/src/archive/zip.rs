//! A zip writer for members that are compressed already.
//!
//! It writes what installers can stream: sizes and CRC in the local headers, no data
//! descriptors, no directory entries, no comments, no bytes but those of the members and of
//! the directory. Members and archives may have any size, an archive any number of members.

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

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ZipError {
    /// Two members of one name.
    #[error("the archive already has a member `{name}`")]
    Duplicate {
        /// The name of both.
        name: RelPath,
    },
    /// No member of a name that was asked for.
    #[error("the archive has no member `{name}`")]
    Missing {
        /// The name.
        name: RelPath,
    },
    /// A name that the 16 bits of its length cannot count.
    #[error("the name of a member has {length} bytes; a zip allows 65535")]
    NameTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The bytes that came are not as many as were announced, so that headers would lie.
    #[error("`{name}` was announced with {announced} bytes, and {written} came")]
    Size {
        /// The member.
        name: RelPath,
        /// Bytes that were announced.
        announced: u64,
        /// Bytes that came.
        written: u64,
    },
    /// An earlier member was begun and never ended.
    #[error("`{name}` was begun and not ended, the archive is torn")]
    Torn {
        /// The member.
        name: RelPath,
    },
    /// The sink failed.
    #[error("failed to write {what} to the archive")]
    Write {
        /// The member or the directory.
        what: String,
        /// What the sink says.
        source: io::Error,
    },
}

impl ZipError {
    fn writing(what: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { what: what.to_string(), source }
    }
}

/// Writes a zip archive to `sink`, which has to be empty and at its start.
///
/// Writes are few and of the size of headers or of what the caller passes: buffer `sink` if
/// there are many small members. Without [`ZipWriter::finish`] the result is no archive.
#[derive(Debug)]
pub struct ZipWriter<W> {
    sink: W,
    position: u64,
    /// Where the last member ends that is complete.
    complete: u64,
    time: Timestamp,
    members: IndexMap<RelPath, Header>,
    /// The member that was begun and has not ended.
    open: Option<RelPath>,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// An archive whose members all bear `time`.
    pub fn new(sink: W, time: Timestamp) -> Self {
        Self { sink, position: 0, complete: 0, time, members: IndexMap::new(), open: None }
    }

    /// Where in the archive the next bytes go: those of a member that was begun, or else a header's.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// So many bytes at its start no later call changes: those of members that are complete.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// Where it is written to.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Where the bytes of a complete member lie.
    pub fn place(&self, name: &RelPath) -> Option<Range<u64>> {
        let header = self.members.get(name)?;
        let start = header.offset + header.local(name.as_str()).len() as u64;
        Some(start..start + header.compressed)
    }

    /// Brings what is buffered to where it is written to.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn flush(&mut self) -> Result<(), ZipError> {
        self.sink.flush().map_err(ZipError::writing("what is buffered"))
    }

    /// Writes a whole member: its content has `size` bytes and this `crc` and is `bytes` when
    /// stored by `method`. Does not seek.
    ///
    /// # Errors
    /// On a second member of this name, on a lie about the size of stored bytes, and when the
    /// sink fails.
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
        self.put(name, bytes)?;
        self.close(name.clone(), header);
        Ok(())
    }

    /// Writes a member as an archive has it already: `source` has its bytes, compressed as they are there.
    ///
    /// # Errors
    /// On a second member of this name, when `source` cannot be read or has not the bytes that were
    /// announced, and when the sink fails.
    pub fn copy(
        &mut self,
        name: &RelPath,
        member: &CopiedMember,
        source: &mut impl Read,
    ) -> Result<(), ZipError> {
        self.copy_by(name, member, |sink| io::copy(source, sink))
    }

    /// The same where the sink has a way of its own to take the bytes: `write` gives their number.
    ///
    /// # Errors
    /// As [`ZipWriter::copy`].
    pub fn copy_by(
        &mut self,
        name: &RelPath,
        member: &CopiedMember,
        write: impl FnOnce(&mut W) -> io::Result<u64>,
    ) -> Result<(), ZipError> {
        let &CopiedMember { mode, time, method, crc, size, compressed } = member;
        check_stored(name, method, size, compressed)?;
        // As a build decides it, which does not know `compressed` yet, so that a copy has the bytes of a build.
        let zip64 = worst_case(method, size).max(compressed) >= MAX_32;
        let header =
            Header { mode, time, method, crc, size, compressed, offset: self.position, zip64 };
        self.begin(name, &header)?;
        let written = write(&mut self.sink).map_err(ZipError::writing(name))?;
        if written != compressed {
            return Err(ZipError::Size { name: name.clone(), announced: compressed, written });
        }
        self.position += written;
        self.close(name.clone(), header);
        Ok(())
    }

    /// Writes a member with the content of a complete one, `first`, whose bytes `source` has.
    ///
    /// # Errors
    /// As [`ZipWriter::copy`], and when there is no `first`.
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

    /// Begins a member whose content has `size` bytes. Its bytes come through [`ZipWriter::append`],
    /// and it has to be ended before anything else can be written.
    ///
    /// # Errors
    /// On a second member of this name, and when the sink fails.
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

    /// Begins a stored member whose content has at most `most` bytes; how many there are shows
    /// when it is ended.
    ///
    /// # Errors
    /// As [`ZipWriter::start`].
    pub fn start_up_to(
        &mut self,
        name: &RelPath,
        executable: bool,
        most: u64,
    ) -> Result<ZipEntry, ZipError> {
        let (mode, time) = (header::regular(executable), self.time.dos());
        self.start_with(name, mode, time, Method::Store, most, false)
    }

    /// Begins a member with this mode and MS-DOS time. `size` is the size of its content if `exact`, otherwise an upper
    /// limit for a stored member.
    ///
    /// # Errors
    /// As [`ZipWriter::start`].
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

    /// Appends bytes to the member, compressed as its method says.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn append(&mut self, entry: &mut ZipEntry, bytes: &[u8]) -> Result<(), ZipError> {
        entry.header.compressed += bytes.len() as u64;
        self.put(&entry.name, bytes)
    }

    /// Ends the member, whose content has this CRC-32, and completes its local header.
    ///
    /// # Errors
    /// When stored bytes are not as many as announced, or the sink fails.
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

    /// Writes the directory and gives the sink back, flushed.
    ///
    /// # Errors
    /// When a member was not ended or the sink fails.
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

    /// Checks that `name` may come and writes its local header.
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
        self.put(name, &header.local(name.as_str()))
    }

    fn put(&mut self, name: &RelPath, bytes: &[u8]) -> Result<(), ZipError> {
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

    /// Writes a local header again, now that all of it is known, and comes back.
    fn amend(&mut self, name: &RelPath, header: &Header) -> io::Result<()> {
        let bytes = header.local(name.as_str());
        self.sink.seek(SeekFrom::Start(header.offset))?;
        self.sink.write_all(&bytes)?;
        self.sink.seek(SeekFrom::Start(self.position))?;
        Ok(())
    }
}

/// What an archive says of a member.
#[derive(Debug, Clone, Copy)]
pub struct CopiedMember {
    /// `st_mode`, type and permissions.
    pub mode: u32,
    /// Time and date, as MS-DOS counts them.
    pub time: (u16, u16),
    /// How its bytes are stored.
    pub method: Method,
    /// The CRC-32 of its content.
    pub crc: u32,
    /// Bytes of content.
    pub size: u64,
    /// Bytes in the archive.
    pub compressed: u64,
}

impl CopiedMember {
    /// A member with this content, and mode and time of another.
    pub fn of(packed: &Packed, mode: u32, time: (u16, u16)) -> Self {
        let Packed { method, digest, bytes } = packed;
        let compressed = bytes.len() as u64;
        Self { mode, time, method: *method, crc: digest.crc, size: digest.size, compressed }
    }
}

/// A member that was begun. Until it is given to [`ZipWriter::end`] the archive is torn:
/// every other call on it fails.
#[derive(Debug)]
pub struct ZipEntry {
    name: RelPath,
    header: Header,
    /// Whether the announced size is the size, or a bound.
    exact: bool,
}

/// Stored bytes are the content, so both sizes are one.
fn check_stored(name: &RelPath, method: Method, size: u64, written: u64) -> Result<(), ZipError> {
    match method {
        Method::Store if written != size => {
            Err(ZipError::Size { name: name.clone(), announced: size, written })
        }
        Method::Store | Method::Deflate => Ok(()),
    }
}

/// More than `size` bytes can come to. Fixed Huffman codes need at most 9 bits for a byte;
/// what flushes and block headers add is far below the second term.
fn worst_case(method: Method, size: u64) -> u64 {
    match method {
        Method::Store => size,
        Method::Deflate => size.saturating_add(size / 7).saturating_add(1024),
    }
}
