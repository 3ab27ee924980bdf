//! Writer of reproducible tarballs: pax format, no owner, one time.

use std::io::{self, Read, Write};

use tar::{EntryType, Header};

use super::Timestamp;
use base::names::RelPath;

mod xz;
mod xz_writer;

pub use xz::{Preset, XZ_ENCODER, XzBlock, XzError, XzStream, xz_block, xz_worst_case};
pub use xz_writer::XzWriter;

/// Error of writing a tarball.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// Wrong size.
    #[error("`{path}` has {read} bytes instead of the announced {announced}")]
    Size {
        /// Member.
        path: RelPath,
        /// Announced bytes.
        announced: u64,
        /// Read bytes.
        read: u64,
    },
    /// Invalid target of a link.
    #[error("the link `{path}` has the target `{}`, which is not a file name", .target.escape_debug())]
    Target {
        /// Link.
        path: RelPath,
        /// Target.
        target: String,
    },
    /// Failed input or output.
    #[error("failed to add `{path}` to the tarball")]
    Member {
        /// Member.
        path: RelPath,
        /// Cause.
        source: io::Error,
    },
    /// Incomplete member.
    #[error("`{path}` is incomplete, so the tarball is broken")]
    Torn {
        /// Member.
        path: RelPath,
    },
    /// Failed output.
    #[error("failed to end the tarball")]
    End(#[source] io::Error),
}

/// Writer of a tarball.
///
/// The format is pax (POSIX.1-2001): ustar headers, with extended headers for long or non-ASCII
/// names and files of 8 GiB or more. Owner and group are 0 without names, modes 0644 and 0755.
#[derive(Debug)]
pub struct TarWriter<W> {
    sink: W,
    time: Timestamp,
    open: Option<RelPath>,
}

impl<W: Write> TarWriter<W> {
    /// Creates a tarball; all members have `time`.
    pub fn new(sink: W, time: Timestamp) -> Self {
        Self { sink, time, open: None }
    }

    /// Adds a file; `content` must have `size` bytes.
    pub fn file(
        &mut self,
        path: &RelPath,
        executable: bool,
        size: u64,
        mut content: impl Read,
    ) -> Result<(), TarError> {
        let mode = if executable { 0o755 } else { 0o644 };
        // Detects longer content.
        let mut content = (&mut content).take(size.saturating_add(1));
        self.append_member(
            path,
            HeaderFields { entry: EntryType::Regular, mode, target: "" },
            size,
            &mut content,
        )
    }

    /// Adds a symlink; `target` is relative to its directory.
    pub fn symlink(&mut self, path: &RelPath, target: &str) -> Result<(), TarError> {
        check_target(path, target)?;
        self.append_member(
            path,
            HeaderFields { entry: EntryType::Symlink, mode: 0o777, target },
            0,
            &mut io::empty(),
        )
    }

    /// Adds a directory. Parents of members need no entry.
    pub fn directory(&mut self, path: &RelPath) -> Result<(), TarError> {
        self.append_member(
            path,
            HeaderFields { entry: EntryType::Directory, mode: 0o755, target: "" },
            0,
            &mut io::empty(),
        )
    }

    /// Flushes.
    pub fn finish(mut self) -> Result<W, TarError> {
        self.check_whole()?;
        let end = self.sink.write_all(&[0; 2 * BLOCK]).and_then(|()| self.sink.flush());
        end.map_err(TarError::End)?;
        Ok(self.sink)
    }

    fn check_whole(&self) -> Result<(), TarError> {
        self.open.clone().map_or(Ok(()), |path| Err(TarError::Torn { path }))
    }

    fn append_member(
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

    fn content(&mut self, content: &mut dyn Read) -> io::Result<u64> {
        let size = io::copy(content, &mut self.sink)?;
        let fill = size.next_multiple_of(BLOCK as u64) - size;
        io::copy(&mut io::repeat(0).take(fill), &mut self.sink)?;
        Ok(size)
    }
}

/// Headers of a file. The content follows, padded to 512 bytes.
pub fn file_headers(path: &RelPath, executable: bool, size: u64, time: Timestamp) -> Vec<u8> {
    let mode = if executable { 0o755 } else { 0o644 };
    header_bytes(path, HeaderFields { entry: EntryType::Regular, mode, target: "" }, size, time)
}

/// Headers of a symlink.
pub fn symlink_headers(path: &RelPath, target: &str, time: Timestamp) -> Result<Vec<u8>, TarError> {
    check_target(path, target)?;
    Ok(header_bytes(path, HeaderFields { entry: EntryType::Symlink, mode: 0o777, target }, 0, time))
}

/// Headers of a directory.
pub fn directory_headers(path: &RelPath, time: Timestamp) -> Vec<u8> {
    header_bytes(
        path,
        HeaderFields { entry: EntryType::Directory, mode: 0o755, target: "" },
        0,
        time,
    )
}

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

#[derive(Clone, Copy)]
struct HeaderFields<'a> {
    entry: EntryType,
    mode: u32,
    target: &'a str,
}

const BLOCK: usize = 512;
/// Limit of a ustar header.
const NAME: usize = 100;
/// Exceeds the eleven octal digits of a ustar header.
const LONG: u64 = 1 << 33;

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

/// Formats `LENGTH key=value`; LENGTH includes itself.
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
        assert_eq!(short.to_string(), "`f` has 3 bytes instead of the announced 4");
        let long = writer().file(&path("f"), false, 2, &b"abc"[..]).unwrap_err();
        assert_eq!(long.to_string(), "`f` has 3 bytes instead of the announced 2");
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
