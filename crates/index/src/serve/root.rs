//! The directory that is served, from which no path leads out.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use base::regular;

/// A directory that stays open while it is served.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

/// What is at a path.
pub(super) enum Resource {
    /// A directory.
    Directory,
    /// A regular file, open for reading.
    File(File, Metadata),
}

impl Root {
    /// The directory at `path`.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a directory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = fs_err::canonicalize(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { path, directory })
    }

    /// What is at `below`. Links are followed as long as they stay in the directory, and nobody is
    /// waited for: a FIFO is nothing that can be served.
    ///
    /// # Errors
    /// When there is nothing, or neither a directory nor a regular file, or it lies elsewhere.
    pub(super) fn place(&self, below: &Path) -> io::Result<Resource> {
        // The directory itself has no name below itself.
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(&self.directory, below, flags, Mode::empty(), resolve);
        let file = match opened {
            Err(Errno::NOSYS) => return self.canonical(below),
            opened => File::from(opened?),
        };
        let metadata = file.metadata()?;
        match metadata.file_type() {
            kind if kind.is_dir() => Ok(Resource::Directory),
            kind if kind.is_file() => Ok(Resource::File(file, metadata)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The same where the system cannot hold a path to a directory (Linux before 5.6).
    fn canonical(&self, below: &Path) -> io::Result<Resource> {
        let path = fs_err::canonicalize(self.path.join(below))?;
        if !path.starts_with(&self.path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if path.is_dir() {
            return Ok(Resource::Directory);
        }
        let file = regular::open(&path)?.into_parts().0;
        let metadata = file.metadata()?;
        Ok(Resource::File(file, metadata))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_stay_in_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs_err::create_dir_all(root.join("a")).unwrap();
        fs_err::write(root.join("a/file"), "inside").unwrap();
        fs_err::write(dir.path().join("file"), "outside").unwrap();
        for (link, target) in
            [("within", "a/file"), ("out", "../file"), ("etc", "/etc"), ("self", "/proc/self/fd")]
        {
            symlink(target, root.join(link)).unwrap();
        }
        let root = Root::open(&root).unwrap();
        let find: [fn(&Root, &Path) -> io::Result<Resource>; 2] = [Root::place, Root::canonical];
        for place in find {
            let place = |path: &str| place(&root, Path::new(path));
            assert!(matches!(place("."), Ok(Resource::Directory)));
            assert!(matches!(place("a"), Ok(Resource::Directory)));
            for file in ["a/file", "within"] {
                assert!(matches!(place(file), Ok(Resource::File(_, found)) if found.len() == 6));
            }
            for path in ["out", "etc", "etc/passwd", "../file", "self/0", "none"] {
                assert!(place(path).is_err(), "{path}");
            }
        }
    }
}
