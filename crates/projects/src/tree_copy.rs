//! Copies of directories.

use std::fs::FileType;
use std::io;
use std::path::Path;

use fs_err as fs;

use base::directory::entries;

/// Copies a directory with links, times and modes. Files share their blocks if the file system
/// supports it.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in entries(from)? {
        let (place, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            copy_file(&entry.path(), kind, &place)?;
        }
    }
    Ok(())
}

pub(crate) fn copy_file(from: &Path, kind: FileType, place: &Path) -> io::Result<()> {
    if kind.is_symlink() {
        return fs::os::unix::fs::symlink(fs::read_link(from)?, place);
    }
    if !kind.is_file() {
        let text = format!("{} is not a file, directory or link", from.display());
        return Err(io::Error::other(text));
    }
    fs::copy(from, place)?;
    let time = fs::metadata(from)?.modified()?;
    let copied = fs::OpenOptions::new().write(true).open(place);
    copied.or_else(|_| fs::File::open(place))?.file().set_modified(time)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn copies_times_modes_and_links() {
        let directory = tempfile::tempdir().unwrap();
        let (source, copied_tree) = (directory.path().join("a"), directory.path().join("b"));
        fs::create_dir_all(source.join("sub")).unwrap();
        fs::write(source.join("sub/tool"), "x").unwrap();
        fs::set_permissions(source.join("sub/tool"), PermissionsExt::from_mode(0o555)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::open(source.join("sub/tool")).unwrap().file().set_modified(time).unwrap();
        fs::os::unix::fs::symlink("sub/tool", source.join("link")).unwrap();
        copy(&source, &copied_tree).unwrap();
        let copied = fs::metadata(copied_tree.join("sub/tool")).unwrap();
        assert_eq!(
            (copied.permissions().mode() & 0o777, copied.modified().unwrap()),
            (0o555, time)
        );
        assert_eq!(fs::read_link(copied_tree.join("link")).unwrap(), Path::new("sub/tool"));
    }
}
