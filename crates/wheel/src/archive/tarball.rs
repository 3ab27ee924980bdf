//! Tarballs that are the same bytes on every machine: pax format, no owner, one time.

use std::io::{self, Read, Write};

use tar::{EntryType, Header};

use super::Timestamp;
use base::names::RelPath;

mod xz;
mod xz_writer;

pub use xz::{Preset, XZ_ENCODER, XzBlock, XzError, XzStream, xz_block, xz_worst_case};
pub use xz_writer::XzWriter;

/// Why a tarball could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// A file that has not the size that was announced, so that its header would lie.
    #[error("`{path}` was announced with {announced} bytes and has {read}")]
    Size {
        /// The member.
        path: RelPath,
        /// Bytes that were announced.
        announced: u64,
        /// Bytes that came, at most one more than announced.
        read: u64,
    },
    /// A link that leads to nothing that has a name.
    #[error("the link `{path}` has the target `{}`, which no file can have", .target.escape_debug())]
    Target {
        /// The link.
        path: RelPath,
        /// What it should lead to.
        target: String,
    },
    /// The file could not be read or the sink not be written.
    #[error("failed to put `{path}` into the tarball")]
    Member {
        /// The member.
        path: RelPath,
        /// What the reader or the sink says.
        source: io::Error,
    },
    /// An earlier member failed, so that what follows it cannot be found.
    #[error("`{path}` was not written whole, the tarball is torn")]
    Torn {
        /// The member.
        path: RelPath,
    },
    /// The sink failed at the end.
    #[error("failed to end the tarball")]
    End(#[source] io::Error),
}

/// Writes a tarball, members in the order in which they come.
///
/// The format is pax (POSIX.1-2001): ustar headers, with extended ones where a name is long or
/// not ASCII or a file has 8 GiB or more. Owner and group are 0 without names, modes 0644 and
/// 0755, the time of all is the same. Without [`TarWriter::finish`] the tarball has no end.
#[derive(Debug)]
pub struct TarWriter<W> {
    sink: W,
    time: Timestamp,
    /// The member that was begun and has not ended.
    open: Option<RelPath>,
}

impl<W: Write> TarWriter<W> {
    /// A tarball on `sink` whose members all bear `time`.
    pub fn new(sink: W, time: Timestamp) -> Self {
        Self { sink, time, open: None }
    }

    /// A file with what `content` reads, which has to be `size` bytes.
    ///
    /// # Errors
    /// When it is fewer or more, and when reading or writing fails.
    pub fn file(
        &mut self,
        path: &RelPath,
        executable: bool,
        size: u64,
        mut content: impl Read,
    ) -> Result<(), TarError> {
        let mode = if executable { 0o755 } else { 0o644 };
        // One byte more would tell that there is more.
        let mut content = (&mut content).take(size.saturating_add(1));
        self.put(
            path,
            HeaderFields { entry: EntryType::Regular, mode, target: "" },
            size,
            &mut content,
        )
    }

    /// A symlink; `target` is written as it is, relative to the directory that holds the link.
    ///
    /// # Errors
    /// On an empty target or one with a NUL, and when writing fails.
    pub fn symlink(&mut self, path: &RelPath, target: &str) -> Result<(), TarError> {
        check_target(path, target)?;
        self.put(
            path,
            HeaderFields { entry: EntryType::Symlink, mode: 0o777, target },
            0,
            &mut io::empty(),
        )
    }

    /// A directory. Those above a member need not be named.
    ///
    /// # Errors
    /// When writing fails.
    pub fn directory(&mut self, path: &RelPath) -> Result<(), TarError> {
        self.put(
            path,
            HeaderFields { entry: EntryType::Directory, mode: 0o755, target: "" },
            0,
            &mut io::empty(),
        )
    }

    /// Writes the end of the tarball and gives the sink back, flushed. Compressors around the
    /// sink still have to be finished.
    ///
    /// # Errors
    /// When an earlier member failed, and when writing fails.
    pub fn finish(mut self) -> Result<W, TarError> {
        self.check_whole()?;
        let end = self.sink.write_all(&[0; 2 * BLOCK]).and_then(|()| self.sink.flush());
        end.map_err(TarError::End)?;
        Ok(self.sink)
    }

    fn check_whole(&self) -> Result<(), TarError> {
        self.open.clone().map_or(Ok(()), |path| Err(TarError::Torn { path }))
    }

    /// Writes a member of `size` bytes, which `content` has to read.
    fn put(
        &mut self,
        path: &RelPath,
        kind: HeaderFields<'_>,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), TarError> {
        self.check_whole()?;
        self.open = Some(path.clone());
        let headers = header_bytes(path, kind, size, self.time);
        let read = self.sink.write_all(&headers).and_then(|()| self.content(content));
        let read = read.map_err(|source| TarError::Member { path: path.clone(), source })?;
        if read != size {
            return Err(TarError::Size { path: path.clone(), announced: size, read });
        }
        self.open = None;
        Ok(())
    }

    /// Copies `content`, filled up to whole blocks, and tells its size.
    fn content(&mut self, content: &mut dyn Read) -> io::Result<u64> {
        let size = io::copy(content, &mut self.sink)?;
        let fill = size.next_multiple_of(BLOCK as u64) - size;
        io::copy(&mut io::repeat(0).take(fill), &mut self.sink)?;
        Ok(size)
    }
}

/// The headers of a file's member, which its content follows, filled up to whole blocks of 512
/// bytes: for laying out a tarball without writing it.
pub fn file_headers(path: &RelPath, executable: bool, size: u64, time: Timestamp) -> Vec<u8> {
    let mode = if executable { 0o755 } else { 0o644 };
    header_bytes(path, HeaderFields { entry: EntryType::Regular, mode, target: "" }, size, time)
}

/// The headers that are a symlink's member.
///
/// # Errors
/// On an empty target or one with a NUL.
pub fn symlink_headers(path: &RelPath, target: &str, time: Timestamp) -> Result<Vec<u8>, TarError> {
    check_target(path, target)?;
    Ok(header_bytes(path, HeaderFields { entry: EntryType::Symlink, mode: 0o777, target }, 0, time))
}

/// The headers that are a directory's member.
pub fn directory_headers(path: &RelPath, time: Timestamp) -> Vec<u8> {
    header_bytes(
        path,
        HeaderFields { entry: EntryType::Directory, mode: 0o755, target: "" },
        0,
        time,
    )
}

/// The header of a member, and before it the extended one if there has to be one.
fn header_bytes(path: &RelPath, kind: HeaderFields<'_>, size: u64, time: Timestamp) -> Vec<u8> {
    let slash = if kind.entry == EntryType::Directory { "/" } else { "" };
    let name = format!("{path}{slash}");
    let records = extended(&name, kind.target, size);
    let mut bytes = Vec::new();
    if !records.is_empty() {
        let kind = HeaderFields { entry: EntryType::XHeader, mode: 0o644, target: "" };
        bytes.extend_from_slice(
            header("././@PaxHeader", kind, records.len() as u64, time).as_bytes(),
        );
        bytes.extend_from_slice(records.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    }
    bytes.extend_from_slice(header(&name, kind, size, time).as_bytes());
    bytes
}

fn check_target(path: &RelPath, target: &str) -> Result<(), TarError> {
    if target.is_empty() || target.contains('\0') {
        return Err(TarError::Target { path: path.clone(), target: target.to_owned() });
    }
    Ok(())
}

/// What a member is.
#[derive(Clone, Copy)]
struct HeaderFields<'a> {
    entry: EntryType,
    mode: u32,
    target: &'a str,
}

/// Headers and contents come in blocks of this many bytes.
const BLOCK: usize = 512;
/// How long names may be in a ustar header.
const NAME: usize = 100;
/// The first size that the eleven octal digits of a ustar header cannot say.
const LONG: u64 = 1 << 33;

/// The ustar header; what does not fit is cut off and repeated in the [`extended`] one.
fn header(name: &str, kind: HeaderFields<'_>, size: u64, time: Timestamp) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind.entry);
    header.set_mode(kind.mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(time.seconds());
    header.set_size(size);
    let fields = header.as_old_mut();
    fill(&mut fields.name, name);
    fill(&mut fields.linkname, kind.target);
    header.set_cksum();
    header
}

fn fill(field: &mut [u8; NAME], text: &str) {
    let text = &text.as_bytes()[..text.len().min(NAME)];
    field[..text.len()].copy_from_slice(text);
}

/// The records of the extended header: what the ustar header cannot say.
fn extended(name: &str, target: &str, size: u64) -> String {
    let mut records = String::new();
    for (key, text) in [("path", name), ("linkpath", target)] {
        if text.len() > NAME || !text.is_ascii() {
            records += &record(key, text);
        }
    }
    if size >= LONG {
        records += &record("size", &size.to_string());
    }
    records
}

/// `LENGTH key=value` and a line feed, where LENGTH counts itself too.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse().unwrap()
    }

    fn writer() -> TarWriter<Vec<u8>> {
        TarWriter::new(Vec::new(), Timestamp::EARLIEST)
    }

    /// Path, link target, mode, type and content of every member.
    fn read(bytes: &[u8]) -> Vec<(String, String, u32, EntryType, String)> {
        let mut archive = tar::Archive::new(bytes);
        let member = |entry: io::Result<tar::Entry<'_, &[u8]>>| {
            let mut entry = entry.unwrap();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            let header = entry.header();
            assert_eq!(
                (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()),
                (0, 0, 315_532_800)
            );
            assert_eq!(
                (header.username().unwrap(), header.groupname().unwrap()),
                (Some(""), Some(""))
            );
            let (mode, kind) = (header.mode().unwrap(), header.entry_type());
            let link = entry
                .link_name()
                .unwrap()
                .map(|link| link.to_str().unwrap().to_owned())
                .unwrap_or_default();
            (entry.path().unwrap().to_str().unwrap().to_owned(), link, mode, kind, content)
        };
        archive.entries().unwrap().map(member).collect()
    }

    #[test]
    fn members_read_back() {
        let long = format!("{}/{}", "d".repeat(150), "ü".repeat(60));
        let up = format!("../../{}", "t".repeat(120));
        let mut tar = writer();
        tar.directory(&path("d")).unwrap();
        tar.file(&path("d/run"), true, 3, &b"abc"[..]).unwrap();
        tar.file(&path(&long), false, 1, &b"x"[..]).unwrap();
        tar.symlink(&path("d/link"), &up).unwrap();
        tar.symlink(&path("d/short"), "../d/./run").unwrap();
        let expected = [
            ("d/", "", 0o755, EntryType::Directory, ""),
            ("d/run", "", 0o755, EntryType::Regular, "abc"),
            (&long, "", 0o644, EntryType::Regular, "x"),
            ("d/link", &up, 0o777, EntryType::Symlink, ""),
            ("d/short", "../d/./run", 0o777, EntryType::Symlink, ""),
        ];
        let expected =
            expected.map(|(a, b, c, d, e)| (a.to_owned(), b.to_owned(), c, d, e.to_owned()));
        assert_eq!(read(&tar.finish().unwrap()), expected);
    }

    #[test]
    fn names_of_exactly_a_hundred_bytes_need_no_extended_header() {
        for (length, blocks) in [(100, 3), (101, 5)] {
            let mut tar = writer();
            tar.file(&path(&"n".repeat(length)), false, 0, io::empty()).unwrap();
            let bytes = tar.finish().unwrap();
            assert_eq!(bytes.len(), blocks * 512, "{length}");
            assert_eq!(read(&bytes)[0].0.len(), length);
        }
    }

    #[test]
    fn content_is_as_long_as_announced() {
        let short = writer().file(&path("f"), false, 4, &b"abc"[..]).unwrap_err();
        assert_eq!(short.to_string(), "`f` was announced with 4 bytes and has 3");
        let long = writer().file(&path("f"), false, 2, &b"abc"[..]).unwrap_err();
        assert_eq!(long.to_string(), "`f` was announced with 2 bytes and has 3");
    }

    #[test]
    fn a_tarball_with_a_torn_member_cannot_be_finished() {
        let mut tar = writer();
        assert!(tar.file(&path("f"), false, 4, &b"abc"[..]).is_err());
        assert!(matches!(tar.directory(&path("d")), Err(TarError::Torn { .. })));
        assert!(matches!(tar.finish(), Err(TarError::Torn { path }) if path.as_str() == "f"));
    }

    #[test]
    fn records_count_their_own_length() {
        for length in 0..1200 {
            let record = record("path", &"v".repeat(length));
            assert_eq!(record.split(' ').next(), Some(record.len().to_string().as_str()));
        }
    }

    #[test]
    fn a_link_leads_somewhere() {
        for target in ["", "a\0b"] {
            assert!(matches!(writer().symlink(&path("l"), target), Err(TarError::Target { .. })));
        }
    }

    #[test]
    fn files_may_have_8_gib_and_more() {
        let mut tar = writer();
        tar.sink = file_headers(&path("big"), false, LONG + 1, tar.time);
        let mut archive = tar::Archive::new(&tar.sink[..]);
        let entry = archive.entries().unwrap().next().unwrap().unwrap();
        assert_eq!((entry.size(), entry.path().unwrap().to_str()), (LONG + 1, Some("big")));
        assert!(tar.sink[512..].starts_with(b"19 size=8589934593\n"));
    }
}
