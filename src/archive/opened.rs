//! Wheels that exist already, opened for reading.

use std::io;
use std::path::{Path, PathBuf};

use super::directory::{DirectoryError, Entry, FaultKind};
use super::header::Header;
use super::wheel_name::{WheelName, WheelNameError};
use super::zip_file::{LONGEST_RECORD, LONGEST_TEXT, Section, Unpacked, ZipFile};
use crate::regular;

/// A wheel's file, whoever made it.
#[derive(Debug)]
pub struct OpenWheel {
    path: PathBuf,
    name: WheelName,
    dist_info: String,
    zip: ZipFile,
}

/// Why a wheel cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its file name.
    #[error(transparent)]
    Name(#[from] WheelNameError),
    /// The file itself.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The zip that it should be.
    #[error("{} is no zip archive that can be read: {reason}", .path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A member that has to be there.
    #[error("{} has no `{name}`", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The member's name.
        name: String,
    },
    /// A member could not be read.
    #[error("`{name}` of {} cannot be read", .path.display())]
    Member {
        /// The file.
        path: PathBuf,
        /// The member's name.
        name: String,
        /// What is wrong with it.
        source: io::Error,
    },
}

impl OpenWheel {
    /// Opens a wheel: its directory is read, none of its members.
    ///
    /// # Errors
    /// When the file cannot be read, its name is no wheel's, it is no zip or has a name twice, or it has
    /// no metadata directory.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name: WheelName = file_name.parse()?;
        let broken = |reason: String| OpenError::Zip { path: path.to_owned(), reason };
        let zip = ZipFile::open(path).map_err(|error| match error {
            DirectoryError::Io(error) => OpenError::Io(regular::of(path, error)),
            DirectoryError::Broken(why) => broken(why.to_owned()),
        })?;
        if let Some(fault) = zip.faults().iter().find(|fault| fault.kind == FaultKind::Twice) {
            let member = fault.member.as_deref().unwrap_or_default();
            return Err(broken(format!("it has two members `{member}`")));
        }
        let info = zip.entries().iter().find_map(|entry| {
            let info = entry.name.strip_suffix("/METADATA")?;
            (info.ends_with(".dist-info") && !info.contains('/')).then(|| info.to_owned())
        });
        let missing = || OpenError::Missing {
            path: path.to_owned(),
            name: "*.dist-info/METADATA".to_owned(),
        };
        Ok(Self { path: path.to_owned(), name, dist_info: info.ok_or_else(missing)?, zip })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its file name says.
    pub fn name(&self) -> &WheelName {
        &self.name
    }

    /// The metadata directory (`NAME-VERSION.dist-info`).
    pub fn dist_info(&self) -> &str {
        &self.dist_info
    }

    /// The members, in the order of the archive's directory.
    pub fn entries(&self) -> &[Entry] {
        self.zip.entries()
    }

    /// The bytes of a member, unpacked.
    ///
    /// # Errors
    /// When it is packed as installers do not know.
    pub fn member(&self, entry: &Entry) -> Result<Unpacked<'_>, OpenError> {
        self.zip.member(entry).map_err(|source| self.unread(&entry.name, source))
    }

    /// The bytes of a member as they are stored, not decompressed.
    pub fn packed(&self, entry: &Entry) -> Section<'_> {
        self.zip.packed(entry)
    }

    /// The bytes of a file in the metadata directory (`METADATA`, `WHEEL`, `RECORD`), if it is there.
    ///
    /// # Errors
    /// When it cannot be read, or is longer than [`LONGEST_TEXT`], or RECORD than [`LONGEST_RECORD`].
    pub fn info_bytes(&self, file: &str) -> Result<Option<Vec<u8>>, OpenError> {
        let name = format!("{}/{file}", self.dist_info);
        let Some(index) = self.zip.find(&name) else { return Ok(None) };
        let most = if file == "RECORD" { LONGEST_RECORD } else { LONGEST_TEXT };
        let bytes = self.zip.bytes(&self.zip.entries()[index], most);
        bytes.map(Some).map_err(|source| self.unread(&name, source))
    }

    /// The fields of `METADATA`, `WHEEL` or another header in the metadata directory.
    ///
    /// # Errors
    /// When it is not there, or cannot be read.
    pub fn header(&self, file: &str) -> Result<Header, OpenError> {
        match self.info_bytes(file)? {
            Some(bytes) => Ok(Header::parse(&String::from_utf8_lossy(&bytes))),
            None => Err(self.missing(file)),
        }
    }

    /// The error that a file of the metadata directory is not there.
    pub(super) fn missing(&self, file: &str) -> OpenError {
        let name = format!("{}/{file}", self.dist_info);
        OpenError::Missing { path: self.path.clone(), name }
    }

    fn unread(&self, name: &str, source: io::Error) -> OpenError {
        OpenError::Member { path: self.path.clone(), name: name.to_owned(), source }
    }
}
