//! A wheel under a temporary name, in its final directory.

use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Edit, MakeError};
use base::cleanup::{self, Registration};
use base::regular;
use fs_err as fs;
use tempfile::NamedTempFile;

/// Size of the buffer before the file.
const BUFFER: usize = 1 << 20;

/// A wheel that does not have its final name yet. If it is dropped, nothing is left.
#[derive(Debug)]
pub struct Prepared {
    place: PathBuf,
    /// `None` if the wheel at the place is the result already.
    file: Option<(NamedTempFile, Registration)>,
    signatures: Vec<String>,
}

/// A wheel that has its final name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its path.
    pub path: PathBuf,
    /// A file with exactly these bytes had the name before.
    pub was_there: bool,
    /// Signatures of the old RECORD, which are wrong for the new one and were dropped.
    pub dropped: Vec<String>,
}

impl Edit<'_> {
    /// Writes the wheel under a temporary name; `place` is its final path.
    ///
    /// # Errors
    /// Fails as [`Edit::write`] does, or if the directory cannot be written.
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
    /// A wheel that is the result already.
    pub(crate) fn finished(place: PathBuf) -> Self {
        Self { place, file: None, signatures: Vec::new() }
    }

    /// The file that has the bytes of the wheel, until it gets its name.
    pub fn file(&self) -> &Path {
        self.file.as_ref().map_or(&self.place, |(file, _)| file.path())
    }

    /// The path that the wheel gets.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Gives the wheel its final name.
    ///
    /// # Errors
    /// Fails if another file has the name, or the disk fails.
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
