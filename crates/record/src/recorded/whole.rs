use std::io;
use std::path::{Path, PathBuf};

use super::{LARGEST, Recorded, line, statement_files};
use crate::provenance::{STATEMENT, SUMS, Statement, StatementError};
use base::regular;
use base::text::with_causes;

/// Reason for an incomplete record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Missing directory.
    #[error("{} does not exist", .0.display())]
    Nowhere(PathBuf),
    /// File instead of a directory.
    #[error("{} is a file, not a directory", .0.display())]
    File(PathBuf),
    /// Missing record.
    #[error("{} has no {file}", .dir.display())]
    Missing {
        /// Directory.
        dir: PathBuf,
        /// Name of the file.
        file: &'static str,
    },
    /// List without lines.
    #[error("{} is empty", .0.display())]
    Nothing(PathBuf),
    /// Line without checksum and file name.
    #[error("{} is damaged: its line {line} is not a checksum of a file in its directory", .path.display())]
    Line {
        /// List.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// Invalid statement.
    #[error("{} cannot be read: {}", .path.display(), with_causes(error))]
    Statement {
        /// Statement.
        path: PathBuf,
        /// Fault.
        error: StatementError,
    },
    /// Error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Recorded {
    /// Reads the records of a `dist` directory; fails if they do not account for each other.
    pub fn read_whole(dist: &Path) -> Result<Self, RecordError> {
        match fs_err::metadata(dist) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordError::Nowhere(dist.to_owned()));
            }
            metadata => {
                if !metadata?.is_dir() {
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
