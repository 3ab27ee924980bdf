//! Strict reader of a zip's headers (APPNOTE 6.3).
//!
//! Readers use the directory, the local headers, or the first of two equal names: differences are
//! faults, as are features that installers reject. Size and number of members are limited, and
//! members do not overlap or declare more bytes than deflate can produce.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

mod end;
mod entry;
mod field;
mod local;

use end::End;
pub use entry::DirectoryEntry;
use entry::{DESCRIPTOR, ENCRYPTED};
use field::Fields;

use super::{Fault, FaultKind};

/// Limit of members.
pub const MOST_MEMBERS: usize = 1 << 17;
/// The directory is held in memory.
const LONGEST: u64 = 32 << 20;
/// Maximum expansion of deflate.
const RATIO: u64 = 1032;

/// Central directory with the faults found in it.
#[derive(Debug, Default)]
pub struct Directory {
    /// Members in directory order.
    pub entries: Vec<DirectoryEntry>,
    /// Differences between readers, and rejected features.
    pub faults: Vec<Fault>,
    by_name: Vec<usize>,
}

fn bytes(fault: Fault, count: u64) -> Fault {
    fault.because(format!("{count} bytes"))
}

/// Error of reading a directory.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Invalid archive.
    #[error("{0}")]
    Broken(&'static str),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Directory {
    /// Reads all headers.
    pub fn read(file: &File) -> Result<Self, DirectoryError> {
        let (mut directory, end) = Self::compared(file, |_| true)?;
        directory.faults.extend(gaps(&directory.entries, end.prefix, end.start)?);
        Ok(directory)
    }

    /// Reads the central directory, and the local headers of some members: only these can be
    /// unpacked.
    ///
    /// # Errors
    /// As [`Directory::read`].
    pub fn read_some(
        file: &File,
        is_whole: impl Fn(&DirectoryEntry) -> bool,
    ) -> Result<Self, DirectoryError> {
        Ok(Self::compared(file, is_whole)?.0)
    }

    /// Offset of the central directory. Reads at most 64 KiB at the end of the file.
    ///
    /// # Errors
    /// If the file does not end as a zip archive.
    pub fn start(file: &File) -> Result<u64, DirectoryError> {
        Ok(End::find(file)?.start)
    }

    fn compared(
        file: &File,
        is_whole: impl Fn(&DirectoryEntry) -> bool,
    ) -> Result<(Self, End), DirectoryError> {
        let mut end = End::find(file)?;
        if end.size > LONGEST {
            return Err(DirectoryError::Broken("its central directory is larger than the limit"));
        }
        let mut bytes = vec![0; usize::try_from(end.size).unwrap_or_default()];
        read(file, end.start, &mut bytes)?;
        let mut directory =
            Self { entries: entries(&bytes, &mut end)?, faults: Vec::new(), by_name: Vec::new() };
        directory.faults.append(&mut end.faults);
        let len = file.metadata()?.len();
        for entry in directory.entries.iter_mut().filter(|entry| is_whole(entry)) {
            directory.faults.extend(local::compare(file, len, entry)?);
            directory.faults.extend(features(entry));
        }
        directory.sort();
        Ok((directory, end))
    }

    /// First member's index.
    pub fn find(&self, name: &str) -> Option<usize> {
        let position = self.by_name.partition_point(|index| *self.entries[*index].name < *name);
        self.by_name.get(position).copied().filter(|index| self.entries[*index].name == name)
    }

    fn sort(&mut self) {
        let entries = &self.entries;
        self.by_name = (0..entries.len()).collect();
        self.by_name.sort_by(|a, b| entries[*a].name.cmp(&entries[*b].name));
        let is_same_name = |a: usize, b: usize| entries[a].name == entries[b].name;
        for (at, pair) in self.by_name.windows(2).enumerate() {
            let is_reported = at > 0 && is_same_name(self.by_name[at - 1], pair[0]);
            if is_same_name(pair[0], pair[1]) && !is_reported {
                let fault =
                    Fault::new(FaultKind::DuplicateName, "there twice").of(&entries[pair[0]].name);
                self.faults.push(fault);
            }
        }
    }
}

fn read(file: &File, at: u64, bytes: &mut [u8]) -> Result<(), DirectoryError> {
    file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => DirectoryError::Broken("it is truncated"),
        _ => error.into(),
    })
}

fn entries(bytes: &[u8], end: &mut End) -> Result<Vec<DirectoryEntry>, DirectoryError> {
    let (mut entries, mut rest) = (Vec::new(), Fields(bytes));
    while !rest.0.is_empty() {
        let (entry, faults) = DirectoryEntry::read(&mut rest, end.prefix)
            .ok_or(DirectoryError::Broken("its central directory is malformed"))?;
        end.faults.extend(faults);
        if entries.len() == MOST_MEMBERS {
            return Err(DirectoryError::Broken("it has more members than the limit"));
        }
        if entry.method == 8 && entry.size / RATIO > entry.compressed {
            return Err(DirectoryError::Broken(
                "the recorded size of a member is larger than its bytes can unpack to",
            ));
        }
        entries.push(entry);
    }
    if entries.len() as u64 == end.entries {
        return Ok(entries);
    }
    Err(DirectoryError::Broken("the recorded number of members in its central directory is wrong"))
}

const PATCHED: u16 = 1 << 5;
const STRONG: u16 = 1 << 6;
/// Newest version of APPNOTE, times ten.
const NEWEST: u8 = 63;

/// Installers unpack during the download and know two methods.
fn features(entry: &DirectoryEntry) -> Vec<Fault> {
    let mut faults = Vec::new();
    let fault = |what| Fault::new(FaultKind::Feature, what).of(&entry.name);
    if entry.flags & ENCRYPTED != 0 {
        faults.push(fault("encrypted"));
    }
    if ![0, 8].contains(&entry.method) {
        faults.push(
            fault("compression method that installers do not know")
                .because(format!("method {}", entry.method)),
        );
    }
    if entry.flags & DESCRIPTOR != 0 && entry.is_stored() {
        faults.push(fault(
            "size after stored content, so installers cannot unpack it while downloading",
        ));
    }
    if entry.flags & (PATCHED | STRONG) != 0 {
        faults.push(fault("patched or encrypted data, which installers reject"));
    }
    if entry.needed > NEWEST {
        let detail = format!("{}.{}", entry.needed / 10, entry.needed % 10);
        faults.push(fault("version of the zip format that installers reject").because(detail));
    }
    faults
}

/// Overlapping members could unpack the same bytes again.
fn gaps(entries: &[DirectoryEntry], start: u64, end: u64) -> Result<Vec<Fault>, DirectoryError> {
    let mut sorted: Vec<&DirectoryEntry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header);
    let (mut faults, mut position, mut descriptor) = (Vec::new(), start, false);
    for entry in sorted {
        faults.extend(gap(position, entry.header, descriptor)?.map(|fault| fault.of(&entry.name)));
        (position, descriptor) = (entry.end(), entry.flags & DESCRIPTOR != 0);
    }
    faults.extend(gap(position, end, descriptor)?);
    Ok(faults)
}

fn gap(from: u64, to: u64, descriptor: bool) -> Result<Option<Fault>, DirectoryError> {
    match to.checked_sub(from) {
        Some(0) => Ok(None),
        Some(12 | 16 | 20 | 24) if descriptor => Ok(None),
        Some(bytes) => {
            let message = "unused bytes before a member";
            Ok(Some(self::bytes(Fault::new(FaultKind::Stray, message), bytes)))
        }
        None => Err(DirectoryError::Broken("two of its members overlap")),
    }
}
