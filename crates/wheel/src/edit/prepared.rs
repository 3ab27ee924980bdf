use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Edit, MakeError};
use base::partial::{self, ClosedFile, PartialDirectory, PartialFile};
use base::regular;
use fs_err as fs;

const BUFFER: usize = 1 << 20;
const PREFIX: &str = ".rockpack-edit-";

/// Wheel under a temporary name, removed if dropped.
#[derive(Debug)]
pub struct Prepared {
    place: PathBuf,
    file: Option<Temporary>,
    signatures: Vec<String>,
}

/// Closed, because a command takes any number of wheels.
#[derive(Debug)]
struct Temporary {
    // Dropped before its directory.
    file: ClosedFile,
    directory: Arc<PartialDirectory>,
}

/// Wheel under its final name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedWheel {
    /// Path.
    pub path: PathBuf,
    /// A file with these bytes existed before.
    pub was_there: bool,
    /// Dropped signatures of the old RECORD.
    pub dropped: Vec<String>,
}

impl Edit<'_> {
    /// `place` is the final path.
    pub fn prepare(self, place: PathBuf) -> Result<Prepared, MakeError> {
        let failed = |source| MakeError::Write { path: place.clone(), source };
        let into = place.parent().unwrap_or(&place);
        fs::create_dir_all(into).map_err(failed)?;
        let directory = PartialDirectory::shared(into, PREFIX).map_err(failed)?;
        let mut file = PartialFile::new(directory.path(), "", partial::PRIVATE).map_err(failed)?;
        let (signatures, wheel) = (self.signatures(), self.wheel);
        let sink = BufWriter::with_capacity(BUFFER, file.as_file_mut());
        self.write(sink).map_err(|error| MakeError::new(error, wheel.path(), &place))?;
        file.set_mode(0o644).map_err(failed)?;
        file.sync().map_err(failed)?;
        let file = Some(Temporary { file: file.close(), directory });
        Ok(Prepared { place, file, signatures })
    }
}

impl Prepared {
    pub(crate) fn finished(place: PathBuf) -> Self {
        Self { place, file: None, signatures: Vec::new() }
    }

    /// Temporary file with the bytes of the wheel.
    pub fn file(&self) -> &Path {
        self.file.as_ref().map_or(&self.place, |temporary| temporary.file.path())
    }

    /// Final path.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Fails like [`Self::finish`] if the final path has other bytes.
    pub fn check_place(&self) -> Result<(), MakeError> {
        let path = self.place.clone();
        let is_there = self.file.is_some() && fs::symlink_metadata(&path).is_ok();
        match is_there.then(|| are_different(self.file(), &path)) {
            Some(Err(source)) => Err(MakeError::Write { path, source }),
            Some(Ok(true)) => Err(MakeError::Exists { path }),
            Some(Ok(false)) | None => Ok(()),
        }
    }

    /// Fails if `other` has the same final path and other bytes.
    pub fn check_against(&self, other: &Self) -> Result<(), MakeError> {
        let path = self.place.clone();
        match (path == other.place).then(|| are_different(self.file(), other.file())) {
            Some(Err(source)) => Err(MakeError::Write { path, source }),
            Some(Ok(true)) => Err(MakeError::Twice { path }),
            Some(Ok(false)) | None => Ok(()),
        }
    }

    /// Gives the wheel its final name.
    pub fn finish(self) -> Result<FinishedWheel, MakeError> {
        let Self { place, file, signatures: dropped } = self;
        let Some(Temporary { file, directory: _directory }) = file else {
            return Ok(FinishedWheel { path: place, was_there: true, dropped });
        };
        let failed = |source| MakeError::Write { path: place.clone(), source };
        let was_there = match file.persist_new(&place) {
            Ok(()) => false,
            Err((file, error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                if are_different(file.path(), &place).map_err(failed)? {
                    return Err(MakeError::Exists { path: place });
                }
                true
            }
            Err((_, error)) => return Err(failed(error)),
        };
        Ok(FinishedWheel { path: place, was_there, dropped })
    }
}

fn are_different(one: &Path, two: &Path) -> io::Result<bool> {
    Ok(regular::sha256(one)? != regular::sha256(two)?)
}
