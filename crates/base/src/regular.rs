//! Opening of regular files without blocking.
//!
//! A FIFO blocks until another process writes, and `/dev/zero` never ends, so all inputs are opened
//! here.

use std::fmt::Display;
use std::fs::{FileType, Metadata};
use std::io::{self, ErrorKind, Read};
use std::num::NonZero;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt;
use fs_err::{File, OpenOptions};
use rustix::fs::{Advice, CWD, Mode, OFlags, fadvise, openat};

use crate::hash::{self, Sum};

/// Opens a regular file, following links.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with(path.as_ref(), OFlags::empty())
}

/// Opens a regular file; fails for a link.
pub fn open_unlinked(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    check(path, &fs_err::symlink_metadata(path)?)?;
    open_with(path, OFlags::NOFOLLOW)
}

/// Opens a regular file below `dir` without following links, even if other processes change
/// directories.
pub fn open_below(dir: &Path, below: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut place = dir.to_owned();
    let mut parent =
        openat(CWD, dir, flags, Mode::empty()).map_err(|e| with_path(dir, e.into()))?;
    for part in below.parent().into_iter().flatten() {
        place.push(part);
        parent =
            openat(&parent, part, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
                let is_link =
                    fs_err::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink());
                let linked = || io::Error::other(format!("`{}` is a link", place.display()));
                if is_link { linked() } else { with_path(&place, error.into()) }
            })?;
    }
    let path = dir.join(below);
    check(&path, &fs_err::symlink_metadata(&path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = below.file_name().unwrap_or_default();
    let file =
        openat(&parent, name, flags, Mode::empty()).map_err(|e| with_path(&path, e.into()))?;
    let file = File::from_parts(file.into(), path.clone());
    check(&path, &file.metadata()?)?;
    Ok(file)
}

fn open_with(path: &Path, extra: OFlags) -> io::Result<File> {
    // O_NONBLOCK has no effect on regular files.
    let flags = (OFlags::NONBLOCK | extra).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    check(path, &file.metadata()?)?;
    Ok(file)
}

/// Asks the system to read ahead; ignores errors.
pub fn read_ahead(file: &File, offset: u64, len: u64) {
    if let Some(len) = NonZero::new(len) {
        let _ = fadvise(file, offset, Some(len), Advice::WillNeed);
    }
}

/// Fails for metadata of anything but a regular file; names path and kind.
pub fn check(path: &Path, metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() { Ok(()) } else { Err(irregular(path, kind)) }
}

/// Reads a file of at most `most` bytes, even if it grows.
pub fn read(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    read_open(open(path)?, most)
}

/// Reads like [`read`], but rejects a link.
pub fn read_unlinked(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    read_open(open_unlinked(path)?, most)
}

/// Reads an open file like [`read`].
pub fn read_open(mut file: File, most: u64) -> io::Result<Vec<u8>> {
    let reported = file.metadata()?.len();
    let mut bytes = Vec::new();
    if reported <= most {
        bytes.reserve_exact(usize::try_from(reported).unwrap_or_default());
        file.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if reported > most || bytes.len() as u64 > most {
        Err(too_large(&file.path().display(), most))
    } else {
        Ok(bytes)
    }
}

/// Reads a text like [`read`].
pub fn read_to_string(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    let path = path.as_ref();
    text(read(path, most)?, &path.display())
}

/// Decodes UTF-8; an error names `source`.
pub fn text(bytes: Vec<u8>, source: &dyn Display) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let message = format!("`{source}` is not UTF-8 at byte {offset}");
        io::Error::new(ErrorKind::InvalidData, message)
    })
}

fn irregular(path: &Path, kind: FileType) -> io::Error {
    let (noun, error) = match kind {
        kind if kind.is_dir() => ("a directory", ErrorKind::IsADirectory),
        kind if kind.is_fifo() => ("a FIFO", ErrorKind::InvalidInput),
        kind if kind.is_socket() => ("a socket", ErrorKind::InvalidInput),
        kind if kind.is_symlink() => ("a link", ErrorKind::InvalidInput),
        _ => ("a device", ErrorKind::InvalidInput),
    };
    io::Error::new(error, format!("`{}` is {noun}, not a regular file", path.display()))
}

/// Error for a `source` with more than `most` bytes.
pub fn too_large(source: &dyn Display, most: u64) -> io::Error {
    let text = format!("`{source}` is larger than the limit of {most} bytes");
    io::Error::new(ErrorKind::FileTooLarge, text)
}

/// Hash and length of a regular file.
pub fn sum(path: impl AsRef<Path>) -> io::Result<Sum> {
    hash::of_reader(open(path)?)
}

/// Hexadecimal SHA-256 of a regular file.
pub fn sha256(path: impl AsRef<Path>) -> io::Result<String> {
    Ok(sum(path)?.sha256.to_string())
}

/// Adds the path to an error.
pub fn with_path(path: &Path, error: io::Error) -> io::Error {
    let (path, text) = (path.display().to_string(), error.to_string());
    if text.contains(&path) {
        return error;
    }
    io::Error::new(error.kind(), format!("cannot read {path}: {text}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType as Kind, mknodat};

    use super::*;

    #[test]
    fn files_and_links_to_them_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a"), dir.path().join("b"));
        fs_err::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read(&file, 4).unwrap(), b"text");
        assert_eq!(read_to_string(&link, 9).unwrap(), "text");
        assert_eq!(read_unlinked(&file, 4).unwrap(), b"text");
        assert!(
            read_unlinked(&link, 4)
                .unwrap_err()
                .to_string()
                .ends_with("/b` is a link, not a regular file")
        );
        assert_eq!(read(&file, 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        fs_err::write(&file, b"ab\xff").unwrap();
        let error = read_to_string(&file, 9).unwrap_err().to_string();
        assert!(error.ends_with("/a` is not UTF-8 at byte 2"), "{error}");
    }

    #[test]
    fn no_part_of_a_path_below_is_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs_err::create_dir_all(root.join("a/b")).unwrap();
        fs_err::write(root.join("a/b/file"), "text").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("file", root.join("a/b/other")).unwrap();
        symlink("root", dir.path().join("named")).unwrap();
        let open = |below: &str| open_below(&dir.path().join("named"), Path::new(below));
        let mut text = String::new();
        open("a/b/file").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        for (below, ending) in [
            ("link/b/file", "/link` is a link"),
            ("a/b/other", "/a/b/other` is a link, not a regular file"),
            ("a/b", "/a/b` is a directory, not a regular file"),
        ] {
            let error = open(below).unwrap_err().to_string();
            assert!(error.ends_with(ending), "{error}");
        }
        for below in ["a/c", "c/b"] {
            assert_eq!(open(below).unwrap_err().kind(), ErrorKind::NotFound);
        }
    }

    #[test]
    fn refuses_irregular_files_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        mknodat(CWD, &fifo, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let refusal = |path: &Path| read(path, 9).unwrap_err().to_string();
        assert!(refusal(&fifo).ends_with("/fifo` is a FIFO, not a regular file"));
        assert!(refusal(dir.path()).ends_with("` is a directory, not a regular file"));
        assert_eq!(refusal(Path::new("/dev/zero")), "`/dev/zero` is a device, not a regular file");
        assert_eq!(open(dir.path().join("c")).unwrap_err().kind(), ErrorKind::NotFound);
        // procfs reports no size.
        assert_eq!(read("/proc/self/maps", 9).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
