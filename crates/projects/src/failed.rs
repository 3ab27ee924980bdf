use std::io;
use std::path::Path;

use super::process::ProcessError;
use base::text::with_causes;

/// Free space in bytes below which a disk counts as full: failing programs leave a little.
const ROOM: u64 = 256 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Failed {
    reason: String,
}

impl Failed {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// Adds a cause that the failed program often cannot log: a full disk.
    pub(crate) fn or_full(self, directory: &Path) -> Self {
        match rustix::fs::statvfs(directory) {
            Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM => Self::new(format!(
                "{}, since the disk of {} is full",
                self.reason,
                directory.display()
            )),
            _ => self,
        }
    }

    pub fn for_python(self, version: &str) -> Self {
        Self::new(format!("for Python {version}, {}", self.reason))
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::new(with_causes(&error))
    }
}

impl From<ProcessError> for Failed {
    fn from(error: ProcessError) -> Self {
        Self::new(with_causes(&error))
    }
}
