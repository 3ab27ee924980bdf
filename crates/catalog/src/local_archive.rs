use std::io::{self, Read};
use std::path::PathBuf;

use fs_err::File;

use super::checksum::LONGEST_SIDECAR;
use super::packed::Packed;
use base::identity::FileState;
use base::regular;
use binary::ReadAt;

#[derive(Debug)]
pub(super) struct LocalArchive {
    pub key: String,
    pub path: PathBuf,
    pub size: u64,
    pub sidecar: Option<PathBuf>,
}

impl Packed for LocalArchive {
    fn key(&self) -> &str {
        &self.key
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(regular::open(&self.path)?))
    }

    fn at_random(&self) -> io::Result<Option<Box<dyn ReadAt + Send + '_>>> {
        Ok(Some(Box::new(Steady::open(regular::open(&self.path)?)?)))
    }

    fn sidecar(&self) -> io::Result<Option<String>> {
        self.sidecar.as_ref().map(|path| regular::read_to_string(path, LONGEST_SIDECAR)).transpose()
    }
}

/// A hashed file that must not change: a read after a change fails.
struct Steady {
    file: File,
    initial: FileState,
}

impl Steady {
    fn open(file: File) -> io::Result<Self> {
        let initial = FileState::new(&file.metadata()?);
        Ok(Self { file, initial })
    }
}

impl ReadAt for Steady {
    fn len(&self) -> io::Result<u64> {
        Ok(self.initial.size)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let read = ReadAt::read_exact_at(&self.file, offset, buf);
        // Even after a failed read: this error explains truncation better.
        if FileState::new(&self.file.metadata()?).has_same_content(&self.initial) {
            return read;
        }
        let path = self.file.path().display();
        Err(io::Error::other(format!("{path} was changed during the read")))
    }
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

    use super::*;

    #[test]
    fn refuses_an_archive_that_changes_during_the_read() {
        let dir = tempfile::tempdir().unwrap();
        let (path, replacement) = (dir.path().join("a.tar.zst"), dir.path().join("b"));
        fs::write(&path, [1; 100]).unwrap();
        fs::write(&replacement, [2; 100]).unwrap();
        let archive =
            LocalArchive { key: "a.tar.zst".into(), path: path.clone(), size: 100, sidecar: None };
        let open = || archive.at_random().unwrap().unwrap();
        let (mut buf, stream) = ([0; 10], open());
        stream.read_exact_at(90, &mut buf).unwrap();
        assert!(stream.read_exact_at(91, &mut buf).is_err(), "there are no so many bytes");
        fs::rename(&replacement, &path).unwrap();
        stream.read_exact_at(0, &mut buf).unwrap();
        assert_eq!(buf, [1; 10]);
        let stream = open();
        fs::write(&path, [3; 50]).unwrap();
        for offset in [0, 60] {
            let error = stream.read_exact_at(offset, &mut buf).unwrap_err();
            assert!(error.to_string().ends_with("a.tar.zst was changed during the read"));
        }
    }
}
