use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use base::regular;

#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

pub(super) enum Resource {
    Directory,
    File(File, Metadata),
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = fs_err::canonicalize(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { path, directory })
    }

    /// Follows links inside the directory only; does not block on a FIFO.
    pub(super) fn place(&self, below: &Path) -> io::Result<Resource> {
        // `openat2` rejects an empty path.
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

    /// Fallback for [`Root::place`] without `openat2` (Linux before 5.6).
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
