use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Edit, MakeError};
use base::cleanup::{self, Registration};
use base::regular;
use fs_err as fs;
use tempfile::NamedTempFile;

const BUFFER: usize = 1 << 20;

/// Wheel under a temporary name, removed if dropped.
#[derive(Debug)]
pub struct Prepared {
    place: PathBuf,
    file: Option<(NamedTempFile, Registration)>,
    signatures: Vec<String>,
}

/// Wheel under its final name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
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
        let made = cleanup::temporary(|| NamedTempFile::with_prefix_in(".rockpack-", into));
        let (mut file, registration) = made.map_err(failed)?;
        let (signatures, wheel) = (self.signatures(), self.wheel);
        let sink = BufWriter::with_capacity(BUFFER, file.as_file_mut());
        self.write(sink).map_err(|error| MakeError::of(error, wheel.path(), &place))?;
        file.as_file().set_permissions(PermissionsExt::from_mode(0o644)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        Ok(Prepared { place, file: Some((file, registration)), signatures })
    }
}

impl Prepared {
    pub(crate) fn finished(place: PathBuf) -> Self {
        Self { place, file: None, signatures: Vec::new() }
    }

    /// Temporary file with the bytes of the wheel.
    pub fn file(&self) -> &Path {
        self.file.as_ref().map_or(&self.place, |(file, _)| file.path())
    }

    /// Final path.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Gives the wheel its final name.
    pub fn put(self) -> Result<Made, MakeError> {
        let Self { place, file, signatures: dropped } = self;
        let Some((file, _registration)) = file else {
            return Ok(Made { path: place, was_there: true, dropped });
        };
        let failed = |source| MakeError::Write { path: place.clone(), source };
        let was_there = match file.persist_noclobber(&place) {
            Ok(_) => false,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                if regular::sha256(error.file.path()).map_err(failed)?
                    != regular::sha256(&place).map_err(failed)?
                {
                    return Err(MakeError::Exists { path: place });
                }
                true
            }
            Err(error) => return Err(failed(error.error)),
        };
        Ok(Made { path: place, was_there, dropped })
    }
}
