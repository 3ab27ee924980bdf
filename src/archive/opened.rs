//! Wheels that exist already, opened for reading.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::header::Header;
use super::wheel_name::{WheelName, WheelNameError};

/// A wheel's file, whoever made it.
#[derive(Debug)]
pub struct OpenWheel {
    path: PathBuf,
    name: WheelName,
    dist_info: String,
    zip: ZipArchive<BufReader<fs_err::File>>,
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
    #[error("{} is no zip archive that can be read", .path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: zip::result::ZipError,
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
    /// When the file cannot be read, its name is no wheel's, it is no zip, or it has no metadata directory.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name: WheelName = file_name.parse()?;
        let file = BufReader::new(fs_err::File::open(path)?);
        let zip = ZipArchive::new(file).map_err(|source| OpenError::Zip { path: path.to_owned(), source })?;
        let info =
            zip.file_names().find_map(|name| name.strip_suffix("/METADATA").filter(|d| d.ends_with(".dist-info") && !d.contains('/')));
        let missing = || OpenError::Missing { path: path.to_owned(), name: "*.dist-info/METADATA".to_owned() };
        let dist_info = info.ok_or_else(missing)?.to_owned();
        Ok(Self { path: path.to_owned(), name, dist_info, zip })
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

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.zip.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.zip.is_empty()
    }

    /// The names of all members, in the order of the archive's directory.
    pub fn member_names(&self) -> impl Iterator<Item = &str> {
        (0..self.zip.len()).filter_map(|index| self.zip.name_for_index(index))
    }

    /// A member for reading, by its place in the archive's directory.
    ///
    /// # Errors
    /// When its header is broken.
    pub fn member(&mut self, index: usize) -> Result<ZipFile<'_, BufReader<fs_err::File>>, OpenError> {
        let path = self.path.clone();
        self.zip.by_index(index).map_err(|source| OpenError::Zip { path, source })
    }

    /// A member for reading as it is stored, not decompressed.
    ///
    /// # Errors
    /// When its header is broken.
    pub fn raw_member(&mut self, index: usize) -> Result<ZipFile<'_, BufReader<fs_err::File>>, OpenError> {
        let path = self.path.clone();
        self.zip.by_index_raw(index).map_err(|source| OpenError::Zip { path, source })
    }

    /// The bytes of the member `name`, if there is one; for members that memory takes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, OpenError> {
        let Some(index) = self.zip.index_for_name(name) else { return Ok(None) };
        let (mut bytes, path) = (Vec::new(), self.path.clone());
        let read = self.member(index)?.read_to_end(&mut bytes);
        read.map_err(|source| OpenError::Member { path, name: name.to_owned(), source })?;
        Ok(Some(bytes))
    }

    /// The bytes of a file in the metadata directory (`METADATA`, `WHEEL`, `RECORD`), if it is there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn info_bytes(&mut self, file: &str) -> Result<Option<Vec<u8>>, OpenError> {
        self.bytes(&format!("{}/{file}", self.dist_info))
    }

    /// The fields of `METADATA`, `WHEEL` or another header in the metadata directory.
    ///
    /// # Errors
    /// When it is not there, or cannot be read.
    pub fn header(&mut self, file: &str) -> Result<Header, OpenError> {
        match self.info_bytes(file)? {
            Some(bytes) => Ok(Header::parse(&String::from_utf8_lossy(&bytes))),
            None => Err(OpenError::Missing { path: self.path.clone(), name: format!("{}/{file}", self.dist_info) }),
        }
    }
}
