//! Records that have to be whole: what is missing or cannot be read is an error.

use std::io;
use std::path::{Path, PathBuf};

use super::{LARGEST, Recorded, line, statement_files};
use crate::provenance::{STATEMENT, SUMS, Statement, StatementError};
use base::regular;
use base::text::with_causes;

/// Why a directory has no whole record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is nothing of the name.
    #[error("{} does not exist", .0.display())]
    Nowhere(PathBuf),
    /// It is a file.
    #[error("{} is a file, not a directory", .0.display())]
    File(PathBuf),
    /// One of its files is not there.
    #[error("{} has no {file}", .dir.display())]
    Missing {
        /// The directory.
        dir: PathBuf,
        /// What the file is called.
        file: &'static str,
    },
    /// A list without lines.
    #[error("{} lists nothing", .0.display())]
    Nothing(PathBuf),
    /// A line of the list that has no checksum with a file name, such as the last of a list that was cut.
    #[error("{} is damaged: its line {line} is no checksum of a file beside it", .path.display())]
    Line {
        /// The list.
        path: PathBuf,
        /// Its line, counted from 1.
        line: usize,
    },
    /// A file that is not a provenance statement, such as one that was cut.
    #[error("{} cannot be read: {}", .path.display(), with_causes(error))]
    Statement {
        /// The statement.
        path: PathBuf,
        /// What is wrong with it.
        error: StatementError,
    },
    /// The machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Recorded {
    /// Reads what is recorded in a directory that is `dist` itself, all of it.
    ///
    /// # Errors
    /// When the directory, its checksums or its statement is not there, and when one of them cannot be read.
    pub fn read_whole(dist: &Path) -> Result<Self, RecordError> {
        match fs_err::metadata(dist) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordError::Nowhere(dist.to_owned()));
            }
            found => {
                if !found?.is_dir() {
                    return Err(RecordError::File(dist.to_owned()));
                }
            }
        }
        let missing = |file| RecordError::Missing { dir: dist.to_owned(), file };
        let path = dist.join(SUMS);
        let text = match regular::read_to_string(&path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(SUMS)),
            text => text?,
        };
        let mut recorded = Self::default();
        for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.is_empty()) {
            let damaged = || RecordError::Line { path: path.clone(), line: index + 1 };
            recorded.sums.extend([line(text).ok_or_else(damaged)?]);
        }
        if recorded.sums.is_empty() {
            return Err(RecordError::Nothing(path));
        }
        for file in statement_files(dist)? {
            let path = dist.join(file.file_name());
            let statement = Statement::read(&regular::read_to_string(&path, LARGEST)?)
                .map_err(|error| RecordError::Statement { path, error })?;
            recorded.statements.push(statement);
            recorded.files.push(file);
        }
        if recorded.statements.is_empty() {
            return Err(missing(STATEMENT));
        }
        Ok(recorded)
    }
}
