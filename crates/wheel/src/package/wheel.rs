//! Reader of finished wheels.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Fault, FaultKind, OpenError, WheelName, text};
use crate::package::ZipFile;
use crate::package::directory::{Directory, DirectoryEntry, DirectoryError};
use crate::package::zip_file::{LONGEST_RECORD, LONGEST_TEXT, Unpacked};
use crate::unpacking::{Refusal, name_fault};
use base::pooled::PooledFile;
use base::regular;

/// Wheel with its faults.
#[derive(Debug)]
pub struct WheelFile {
    path: PathBuf,
    size: u64,
    zip: ZipFile,
    dist_info: Option<String>,
    faults: Vec<Fault>,
}

impl WheelFile {
    /// Reads only the directory. An invalid archive is a fault.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::read_by(path, Directory::read)
    }

    /// Reads a wheel of which only some members can be read; the file can have holes elsewhere.
    pub fn read_some(path: &Path, is_whole: impl Fn(&str) -> bool) -> io::Result<Self> {
        let is_whole = |entry: &DirectoryEntry| is_whole(&entry.name);
        Self::read_by(path, |file| Directory::read_some(file, is_whole))
    }

    fn read_by(
        path: &Path,
        read: impl Fn(&std::fs::File) -> Result<Directory, DirectoryError>,
    ) -> io::Result<Self> {
        let file = regular::open(path)?;
        let mut faults = Vec::new();
        let mut directory = match read(file.file()) {
            Ok(directory) => directory,
            Err(DirectoryError::Io(error)) => return Err(regular::with_path(path, error)),
            Err(DirectoryError::Broken(why)) => {
                faults.push(Fault::new(FaultKind::Broken, why));
                Directory::default()
            }
        };
        faults.append(&mut directory.faults);
        faults.extend(directory.entries.iter().filter_map(entry_fault));
        if directory.entries.is_empty() && faults.is_empty() {
            faults.push(Fault::new(FaultKind::Broken, "it is an empty zip archive"));
        }
        let dist_info = match dist_info(&directory.entries) {
            Ok(found) => Some(found),
            Err(fault) => {
                faults.extend((!directory.entries.is_empty()).then_some(fault));
                None
            }
        };
        let size = file.file().metadata()?.len();
        let zip = ZipFile::new(PooledFile::new(file)?, directory);
        Ok(Self { path: path.to_owned(), size, zip, dist_info, faults })
    }

    /// Renames the wheel to its future file name.
    #[must_use]
    pub fn with_file_name(mut self, file_name: &str) -> Self {
        self.path.set_file_name(file_name);
        self
    }

    /// Returns the file name.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the archive.
    pub fn zip(&self) -> &ZipFile {
        &self.zip
    }

    /// Metadata directory, if unique.
    pub fn dist_info(&self) -> Option<&str> {
        self.dist_info.as_deref()
    }

    /// Faults of the archive.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns the parsed file name and the metadata directory.
    ///
    /// # Errors
    /// If the name is invalid, a member is unsafe, or there is not exactly one metadata directory.
    pub fn sound(&self) -> Result<(WheelName, &str), OpenError> {
        let (name, path) = (self.file_name().parse()?, &self.path);
        if let Some(reason) = self.faults.iter().find_map(Fault::rejection_reason) {
            return Err(OpenError::Zip { path: path.clone(), reason });
        }
        let has_metadata = |info: &&str| self.zip.find(&format!("{info}/METADATA")).is_some();
        let missing =
            || OpenError::Missing { path: path.clone(), name: "*.dist-info/METADATA".to_owned() };
        let dist_info = self.dist_info().filter(has_metadata).ok_or_else(missing)?;
        Ok((name, dist_info))
    }

    /// Text up to the limit, with its fault.
    pub fn text(&self, name: &str) -> Option<(String, Option<Fault>)> {
        let index = self.zip.find(name)?;
        let mut bytes = Vec::new();
        if let Ok(member) = self.zip.member(&self.zip.entries()[index]) {
            // Reading all members reports errors of unpacking.
            let _ = member.take(LONGEST_TEXT + 1).read_to_end(&mut bytes);
        }
        let (text, fault) = text::checked(bytes);
        Some((text, fault.map(|fault| fault.of(name))))
    }
}

fn entry_fault(entry: &DirectoryEntry) -> Option<Fault> {
    let name = entry.name.strip_suffix('/').unwrap_or(&entry.name);
    let unsound = || (!entry.utf8).then_some(Refusal::Name("not UTF-8, or not marked as UTF-8"));
    let kind = || match entry.mode & 0o170_000 {
        0 | 0o040_000 | 0o100_000 => None,
        0o120_000 => Some(Refusal::Link),
        _ => Some(Refusal::Special),
    };
    let refusal = unsound().or_else(|| name_fault(name)).or_else(kind)?;
    Some(refusal.of(&*entry.name).into())
}

/// Installers count a file of such a name like a directory.
fn dist_info(entries: &[DirectoryEntry]) -> Result<String, Fault> {
    let mut directories: Vec<&str> = entries
        .iter()
        .map(|entry| entry.name.split_once('/').map_or(&*entry.name, |(directory, _)| directory))
        .collect();
    directories.retain(|directory| directory.ends_with(".dist-info"));
    directories.sort_unstable();
    directories.dedup();
    let fault = |what: &'static str| Fault::new(FaultKind::MetadataDirectory, what);
    match directories.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(fault("it has no metadata directory (NAME-VERSION.dist-info)")),
        several => Err(fault("it has several metadata directories").because(several.join(", "))),
    }
}

/// Wheel with safe members, a valid name and metadata.
#[derive(Debug)]
pub struct Wheel {
    path: PathBuf,
    zip: ZipFile,
    name: WheelName,
    dist_info: String,
}

impl Wheel {
    /// Opens a wheel.
    ///
    /// # Errors
    /// If a member is unsafe, or there is not exactly one metadata directory.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file = WheelFile::read(path)?;
        let (name, dist_info) = file.sound()?;
        let dist_info = dist_info.to_owned();
        Ok(Self { path: file.path, zip: file.zip, name, dist_info })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Parsed file name.
    pub fn name(&self) -> &WheelName {
        &self.name
    }

    /// Returns the metadata directory.
    pub fn dist_info(&self) -> &str {
        &self.dist_info
    }

    /// Returns the archive.
    pub fn zip(&self) -> &ZipFile {
        &self.zip
    }

    /// Members in directory order.
    pub fn entries(&self) -> &[DirectoryEntry] {
        self.zip.entries()
    }

    /// Reader of the unpacked member.
    pub fn member(&self, entry: &DirectoryEntry) -> Result<Unpacked<'_>, OpenError> {
        self.zip.member(entry).map_err(|source| self.unread(&entry.name, source))
    }

    /// Reads a member, if present.
    ///
    /// # Errors
    /// If longer than [`LONGEST_TEXT`] (`LONGEST_RECORD` for RECORD).
    pub fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, OpenError> {
        let Some(index) = self.zip.find(name) else { return Ok(None) };
        let is_record = name.ends_with(".dist-info/RECORD");
        let most = if is_record { LONGEST_RECORD } else { LONGEST_TEXT };
        let bytes = self.zip.bytes(&self.zip.entries()[index], most);
        bytes.map(Some).map_err(|source| self.unread(name, source))
    }

    /// Reads a text like [`Wheel::bytes`].
    pub fn text(&self, name: &str) -> Result<Option<String>, OpenError> {
        let not_text = || io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
        let text = |bytes| String::from_utf8(bytes).map_err(|_| self.unread(name, not_text()));
        self.bytes(name)?.map(text).transpose()
    }

    /// Reads `METADATA`, `WHEEL` or `RECORD`.
    pub fn info(&self, file: &str) -> Result<String, OpenError> {
        let name = format!("{}/{file}", self.dist_info);
        let missing = || OpenError::Missing { path: self.path.clone(), name: name.clone() };
        self.text(&name)?.ok_or_else(missing)
    }

    /// Error for an unreadable member.
    pub fn unread(&self, name: &str, source: io::Error) -> OpenError {
        OpenError::Member { path: self.path.clone(), name: name.to_owned(), source }
    }
}
