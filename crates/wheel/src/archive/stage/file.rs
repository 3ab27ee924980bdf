use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// Unbuffered file on the stage. Errors name the final path.
#[derive(Debug)]
pub struct StagedFile {
    file: fs::File,
    shown: PathBuf,
}

#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error("the disk of `{}` is full", .path.display())]
    Full { path: PathBuf, source: io::Error },
    #[error("failed to {doing} `{}`", .path.display())]
    Other { doing: &'static str, path: PathBuf, source: io::Error },
}

impl StagedFile {
    pub(super) fn new(file: fs::File, shown: PathBuf) -> Self {
        Self { file, shown }
    }

    /// Final path, or the destination for a temporary file.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Returns the temporary path.
    pub fn place(&self) -> &Path {
        self.file.path()
    }

    /// Size in bytes.
    pub fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata().map_err(|e| self.explain("measure", e))?.len())
    }

    /// Duplicates the file; both share one position.
    pub fn twin(&self) -> io::Result<Self> {
        let file = self.file.try_clone().map_err(|e| self.explain("open", e))?;
        Ok(Self { file, shown: self.shown.clone() })
    }

    /// Reads at `offset`, independent of the position.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.file().read_exact_at(out, offset).map_err(|e| self.explain("read", e))
    }

    /// Reader of a range with a separate position.
    pub fn part(&self, place: Range<u64>) -> io::Result<io::Take<Self>> {
        let file = fs::File::open(self.file.path()).map_err(|e| self.explain("open", e))?;
        let mut part = Self { file, shown: self.shown.clone() };
        part.seek(SeekFrom::Start(place.start))?;
        Ok(part.take(place.end - place.start))
    }

    /// Syncs the written bytes to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data().map_err(|e| self.explain("write to", e))
    }

    fn explain(&self, doing: &'static str, source: io::Error) -> io::Error {
        let (kind, path) = (source.kind(), self.shown.clone());
        io::Error::new(
            kind,
            match kind {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    FileError::Full { path, source }
                }
                _ => FileError::Other { doing, path, source },
            },
        )
    }
}

impl Read for StagedFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.file.read(out).map_err(|e| self.explain("read", e))
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|e| self.explain("write to", e))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| self.explain("write to", e))
    }
}

impl Seek for StagedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to).map_err(|e| self.explain("seek in", e))
    }
}
