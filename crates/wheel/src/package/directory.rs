//! A zip's directory and the headers before its members, read without forgiving anything (APPNOTE 6.3).
//!
//! Readers differ in what they believe: some the directory, some the local headers, some the first
//! of two members. What is found here is where they would differ, and what installers refuse.
//!
//! Nothing that follows from a directory can take more memory or time than the file is worth: the
//! directory's length and number of members are bounded, no two members share bytes, and none claims
//! more bytes than deflate can make of its own.

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

/// No package has more members.
pub const MOST_MEMBERS: usize = 1 << 17;
/// No directory is longer: it has to be held in memory.
const LONGEST: u64 = 32 << 20;
/// Deflate makes at most so many bytes of one.
const RATIO: u64 = 1032;

/// What a zip says of its members, in its order.
#[derive(Debug, Default)]
pub struct Directory {
    /// The members.
    pub entries: Vec<DirectoryEntry>,
    /// Where readers would differ.
    pub faults: Vec<Fault>,
    /// The members' places, by name.
    by_name: Vec<usize>,
}

fn bytes(fault: Fault, count: u64) -> Fault {
    fault.because(format!("{count} bytes"))
}

/// Why there is no directory to read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The archive is at fault.
    #[error("{0}")]
    Broken(&'static str),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Directory {
    /// Reads the directory and every local header.
    ///
    /// # Errors
    /// When the file cannot be read, or is no archive whose members are told apart.
    pub fn read(file: &File) -> Result<Self, DirectoryError> {
        let mut end = End::find(file)?;
        if end.size > LONGEST {
            return Err(DirectoryError::Broken("its directory is longer than any package's"));
        }
        let mut bytes = vec![0; usize::try_from(end.size).unwrap_or_default()];
        read(file, end.start, &mut bytes)?;
        let mut directory =
            Self { entries: entries(&bytes, &mut end)?, faults: end.faults, by_name: Vec::new() };
        let len = file.metadata()?.len();
        for entry in &mut directory.entries {
            directory.faults.extend(local::compare(file, len, entry)?);
            directory.faults.extend(features(entry));
        }
        directory.sort();
        directory.faults.extend(between(&directory.entries, end.prefix, end.start)?);
        Ok(directory)
    }

    /// The place of the member `name`; of several the first.
    pub fn find(&self, name: &str) -> Option<usize> {
        let at = self.by_name.partition_point(|index| *self.entries[*index].name < *name);
        self.by_name.get(at).copied().filter(|index| self.entries[*index].name == name)
    }

    /// Sorts the names, and finds those that stand there twice.
    fn sort(&mut self) {
        let entries = &self.entries;
        self.by_name = (0..entries.len()).collect();
        self.by_name.sort_by(|a, b| entries[*a].name.cmp(&entries[*b].name));
        let same = |a: usize, b: usize| entries[a].name == entries[b].name;
        for (at, pair) in self.by_name.windows(2).enumerate() {
            // Of three equal ones, once.
            let seen = at > 0 && same(self.by_name[at - 1], pair[0]);
            if same(pair[0], pair[1]) && !seen {
                let fault = Fault::new(FaultKind::Twice, "there twice").of(&entries[pair[0]].name);
                self.faults.push(fault);
            }
        }
    }
}

/// Reads exactly; an end that comes too early is the archive's fault.
fn read(file: &File, at: u64, bytes: &mut [u8]) -> Result<(), DirectoryError> {
    file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => DirectoryError::Broken("it is cut short"),
        _ => error.into(),
    })
}

/// The directory's entries, as many as the end of the archive tells; another name that extra fields
/// give one is a fault.
fn entries(bytes: &[u8], end: &mut End) -> Result<Vec<DirectoryEntry>, DirectoryError> {
    let (mut entries, mut rest) = (Vec::new(), Fields(bytes));
    while !rest.0.is_empty() {
        let (entry, other_name) = DirectoryEntry::read(&mut rest, end.prefix)
            .ok_or(DirectoryError::Broken("its directory is malformed"))?;
        end.faults.extend(other_name);
        if entries.len() == MOST_MEMBERS {
            return Err(DirectoryError::Broken("it has more members than any package"));
        }
        if entry.method == 8 && entry.size / RATIO > entry.compressed {
            return Err(DirectoryError::Broken(
                "a member claims more bytes than its own can unpack to",
            ));
        }
        entries.push(entry);
    }
    if entries.len() as u64 == end.entries {
        return Ok(entries);
    }
    Err(DirectoryError::Broken("its directory has another number of members than it says"))
}

/// What installers do not take: they unpack while they download, and know two methods.
fn features(entry: &DirectoryEntry) -> Vec<Fault> {
    let mut found = Vec::new();
    let fault = |what| Fault::new(FaultKind::Feature, what).of(&entry.name);
    if entry.flags & ENCRYPTED != 0 {
        found.push(fault("encrypted"));
    }
    if ![0, 8].contains(&entry.method) {
        found.push(
            fault("compressed by a method that installers do not know")
                .because(format!("method {}", entry.method)),
        );
    }
    if entry.flags & DESCRIPTOR != 0 && !entry.is_directory() {
        found.push(fault(
            "its size stands behind it, so that it cannot be unpacked while it is downloaded",
        ));
    }
    found
}

/// Bytes between members that belong to none. Members that share bytes are an error: each could
/// unpack to as much as all of them have, again and again.
fn between(entries: &[DirectoryEntry], start: u64, end: u64) -> Result<Vec<Fault>, DirectoryError> {
    let mut sorted: Vec<&DirectoryEntry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header);
    let (mut found, mut at, mut descriptor) = (Vec::new(), start, false);
    for entry in sorted {
        found.extend(gap(at, entry.header, descriptor)?.map(|fault| fault.of(&entry.name)));
        (at, descriptor) = (entry.end(), entry.flags & DESCRIPTOR != 0);
    }
    found.extend(gap(at, end, descriptor)?);
    Ok(found)
}

/// What lies between `from` and `to`, when that is not nothing; sizes that follow a member have
/// 12 to 24 bytes.
fn gap(from: u64, to: u64, descriptor: bool) -> Result<Option<Fault>, DirectoryError> {
    match to.checked_sub(from) {
        Some(0) => Ok(None),
        Some(12 | 16 | 20 | 24) if descriptor => Ok(None),
        Some(bytes) => {
            let what = "before it are bytes that belong to no member";
            Ok(Some(self::bytes(Fault::new(FaultKind::Stray, what), bytes)))
        }
        None => Err(DirectoryError::Broken("two of its members share bytes")),
    }
}
