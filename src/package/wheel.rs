//! Wheels that exist.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::wheel_name::WheelNameError;
use super::{Fault, FaultKind, Header, WheelName, text};
use crate::archive::ZipFile;
use crate::archive::directory::{self, Directory, DirectoryError, Entry};
use crate::archive::zip_file::{LONGEST_RECORD, LONGEST_TEXT, Unpacked};
use crate::regular;

/// A wheel's file, whoever made it: its directory was read, and what is wrong with that is known.
#[derive(Debug)]
pub struct WheelFile {
    path: PathBuf,
    zip: ZipFile,
    dist_info: Option<String>,
    faults: Vec<Fault>,
}

impl WheelFile {
    /// Reads the directory, and none of the members.
    ///
    /// # Errors
    /// When the file cannot be opened or read. An archive that cannot be read is a fault.
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = regular::open(path)?.into_parts().0;
        let (directory, mut faults) = match Directory::read(&file) {
            Ok(directory) => (directory, Vec::new()),
            Err(DirectoryError::Io(error)) => return Err(regular::of(path, error)),
            Err(DirectoryError::Broken(why)) => {
                (Directory::default(), vec![Fault::new(FaultKind::Broken, why)])
            }
        };
        faults.extend(directory.faults.iter().cloned().map(Fault::from));
        if directory.entries.is_empty() && faults.is_empty() {
            faults.push(Fault::new(FaultKind::Broken, "it is a zip archive without members"));
        }
        let dist_info = match dist_info(&directory.entries) {
            Ok(found) => Some(found),
            Err(fault) => {
                faults.extend((!directory.entries.is_empty()).then_some(fault));
                None
            }
        };
        let zip = ZipFile::new(file, directory);
        Ok(Self { path: path.to_owned(), zip, dist_info, faults })
    }

    /// What the file is called.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The archive.
    pub fn zip(&self) -> &ZipFile {
        &self.zip
    }

    /// The metadata directory (`NAME-VERSION.dist-info`), where there is one.
    pub fn dist_info(&self) -> Option<&str> {
        self.dist_info.as_deref()
    }

    /// What is wrong with the archive.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// A member as text, as far as it can be unpacked and the limit for texts; and why it is none.
    pub fn text(&self, name: &str) -> Option<(String, Option<Fault>)> {
        let index = self.zip.find(name)?;
        let mut bytes = Vec::new();
        if let Ok(member) = self.zip.member(&self.zip.entries()[index]) {
            // Where unpacking fails, that is found when all members are read.
            let _ = member.take(LONGEST_TEXT + 1).read_to_end(&mut bytes);
        }
        let (text, fault) = text::checked(bytes);
        Some((text, fault.map(|fault| fault.of(name))))
    }
}

/// The only metadata directory.
fn dist_info(entries: &[Entry]) -> Result<String, Fault> {
    let mut found: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.name.split_once('/'))
        .map(|(directory, _)| directory)
        .collect();
    found.retain(|directory| directory.ends_with(".dist-info"));
    found.sort_unstable();
    found.dedup();
    let fault = |what: &'static str| Fault::new(FaultKind::MetadataDirectory, what);
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(fault("it has no metadata directory (NAME-VERSION.dist-info)")),
        several => Err(fault("it has several metadata directories").because(several.join(", "))),
    }
}

/// A wheel whose members are told apart, with a name and metadata.
#[derive(Debug)]
pub struct Wheel {
    path: PathBuf,
    zip: ZipFile,
    name: WheelName,
    dist_info: String,
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

impl Wheel {
    /// Opens a wheel: its directory is read, none of its members.
    ///
    /// # Errors
    /// When the file cannot be read, its name is no wheel's, it is no zip or has a name twice, or it has
    /// no metadata directory or several.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let WheelFile { path, zip, dist_info, faults } = WheelFile::read(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().parse()?;
        if let Some(reason) = faults.iter().find_map(refusal) {
            return Err(OpenError::Zip { path, reason });
        }
        let name_of_info = "*.dist-info/METADATA";
        match dist_info.filter(|info| zip.find(&format!("{info}/METADATA")).is_some()) {
            Some(dist_info) => Ok(Self { path, zip, name, dist_info }),
            None => Err(OpenError::Missing { path, name: name_of_info.to_owned() }),
        }
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

    /// The archive.
    pub fn zip(&self) -> &ZipFile {
        &self.zip
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

    /// The bytes of the member `name`, if it is there.
    ///
    /// # Errors
    /// When it cannot be read, or is longer than [`LONGEST_TEXT`], or RECORD than [`LONGEST_RECORD`].
    pub fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, OpenError> {
        let Some(index) = self.zip.find(name) else { return Ok(None) };
        let is_record = name.ends_with(".dist-info/RECORD");
        let most = if is_record { LONGEST_RECORD } else { LONGEST_TEXT };
        let bytes = self.zip.bytes(&self.zip.entries()[index], most);
        bytes.map(Some).map_err(|source| self.unread(name, source))
    }

    /// The member `name` as text, if it is there.
    ///
    /// # Errors
    /// As [`Wheel::bytes`], and when it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<String>, OpenError> {
        let text = |bytes| {
            let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            String::from_utf8(bytes).map_err(|error| self.unread(name, not_text(error)))
        };
        self.bytes(name)?.map(text).transpose()
    }

    /// The bytes of a file in the metadata directory (`METADATA`, `WHEEL`, `RECORD`), which has to be there.
    ///
    /// # Errors
    /// As [`Wheel::bytes`], and when it is not there.
    pub fn info_bytes(&self, file: &str) -> Result<Vec<u8>, OpenError> {
        let name = format!("{}/{file}", self.dist_info);
        self.bytes(&name)?.ok_or_else(|| self.missing(name))
    }

    /// The same as text.
    ///
    /// # Errors
    /// As [`Wheel::info_bytes`], and when it is not UTF-8.
    pub fn info_text(&self, file: &str) -> Result<String, OpenError> {
        let name = format!("{}/{file}", self.dist_info);
        self.text(&name)?.ok_or_else(|| self.missing(name))
    }

    /// The fields of `METADATA`, `WHEEL` or another header in the metadata directory.
    ///
    /// # Errors
    /// As [`Wheel::info_bytes`].
    pub fn header(&self, file: &str) -> Result<Header, OpenError> {
        Ok(Header::parse(&String::from_utf8_lossy(&self.info_bytes(file)?)))
    }

    fn missing(&self, name: String) -> OpenError {
        OpenError::Missing { path: self.path.clone(), name }
    }

    /// The error that a member cannot be read.
    pub fn unread(&self, name: &str, source: io::Error) -> OpenError {
        OpenError::Member { path: self.path.clone(), name: name.to_owned(), source }
    }
}

/// Why a wheel with this fault is not opened, if it is not: readers would take other members than others.
fn refusal(fault: &Fault) -> Option<String> {
    match fault.kind {
        FaultKind::Broken => Some(fault.what.clone().into_owned()),
        FaultKind::Zip(directory::FaultKind::Twice) => {
            Some(format!("it has two members `{}`", fault.member.as_deref().unwrap_or_default()))
        }
        FaultKind::MetadataDirectory => {
            fault.detail.as_ref().map(|detail| format!("{}: {detail}", fault.what))
        }
        _ => None,
    }
}
