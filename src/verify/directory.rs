//! A zip's directory and the headers before its members, read without forgiving anything (APPNOTE 6.3).
//!
//! Readers differ in what they believe: some the directory, some the local headers, some the first
//! of two members. What is found here is where they would differ, and what installers refuse.

use std::io;

use super::Finding;
use crate::elf::ReadAt;
use crate::source::Code;

mod end;
mod field;
mod local;

use end::End;
use field::{Fields, half, word};

/// A member as the directory has it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub name: String,
    /// Whether the name is UTF-8, and said to be.
    pub utf8: bool,
    pub flags: u16,
    pub method: u16,
    /// Date and time as DOS writes them.
    pub time: (u16, u16),
    pub crc32: u32,
    pub compressed: u64,
    pub size: u64,
    /// Type and permissions as Unix writes them; 0 where they are not told.
    pub mode: u32,
    /// Where its local header is.
    pub header: u64,
    /// Where its bytes begin.
    pub data: u64,
}

/// Bytes of a fixed directory entry.
const ENTRY: usize = 46;
/// The bit that says that sizes follow a member.
const DESCRIPTOR: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;
const UTF8: u16 = 1 << 11;
/// No directory is this long: it has to be held in memory.
const LONGEST: u64 = 512 << 20;

impl Entry {
    pub fn is_directory(&self) -> bool {
        self.name.ends_with('/') || self.mode & 0o170_000 == 0o040_000
    }

    pub fn is_stored(&self) -> bool {
        self.method == 0
    }

    /// Where the bytes behind its own begin.
    fn end(&self) -> u64 {
        self.data + self.compressed
    }
}

/// What a zip says of its members, in its order.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub entries: Vec<Entry>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// Why there is no directory to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum DirectoryError {
    #[error("{0}")]
    Broken(&'static str),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Directory {
    /// Reads the directory and every local header.
    pub fn read(file: &(impl ReadAt + ?Sized)) -> Result<Self, DirectoryError> {
        let end = End::find(file)?;
        let mut directory = Self { findings: end.findings, ..Self::default() };
        if end.size > LONGEST {
            return Err(DirectoryError::Broken("its directory is longer than any wheel's"));
        }
        let mut bytes = vec![0; usize::try_from(end.size).unwrap_or_default()];
        read(file, end.start, &mut bytes)?;
        let mut rest = Fields(&bytes);
        while !rest.0.is_empty() {
            let entry = entry(&mut rest, end.prefix).ok_or(DirectoryError::Broken("its directory is malformed"))?;
            directory.entries.push(entry);
        }
        if directory.entries.len() as u64 != end.entries {
            return Err(DirectoryError::Broken("its directory has another number of members than it says"));
        }
        for entry in &mut directory.entries {
            directory.findings.extend(local::compare(file, entry)?);
            directory.findings.extend(features(entry));
        }
        directory.findings.extend(twice(&directory.entries));
        directory.findings.extend(between(&directory.entries, end.prefix, end.start));
        Ok(directory)
    }
}

/// Reads exactly; an end that comes too early is the archive's fault.
fn read(file: &(impl ReadAt + ?Sized), at: u64, bytes: &mut [u8]) -> Result<(), DirectoryError> {
    file.read_exact_at(at, bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => DirectoryError::Broken("it is cut short"),
        _ => error.into(),
    })
}

/// The next entry. `prefix` are the bytes before the archive, by which all places are off.
fn entry(rest: &mut Fields<'_>, prefix: u64) -> Option<Entry> {
    let fixed = rest.take(ENTRY)?;
    if !fixed.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (name, extra) = (rest.take(half(fixed, 28).into())?, rest.take(half(fixed, 30).into())?);
    rest.take(half(fixed, 32).into())?;
    let [size, compressed, header] = field::wide(extra, [24, 20, 42].map(|at| word(fixed, at)))?;
    let flags = half(fixed, 8);
    let text = std::str::from_utf8(name);
    Some(Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        utf8: text.is_ok_and(|text| text.is_ascii() || flags & UTF8 != 0),
        flags,
        method: half(fixed, 10),
        time: (half(fixed, 14), half(fixed, 12)),
        crc32: word(fixed, 16),
        compressed,
        size,
        mode: word(fixed, 38) >> 16,
        header: header.checked_add(prefix)?,
        data: 0,
    })
}

/// What installers do not take: they unpack while they download, and know two methods.
fn features(entry: &Entry) -> Vec<Finding> {
    let mut found = Vec::new();
    let error = |what| Finding::error(Code::ZipFeature, what).of(&*entry.name);
    if entry.flags & ENCRYPTED != 0 {
        found.push(error("encrypted"));
    }
    if ![0, 8].contains(&entry.method) {
        found.push(error("compressed by a method that installers do not know").because(format!("method {}", entry.method)));
    }
    if entry.flags & DESCRIPTOR != 0 && !entry.is_directory() {
        found.push(error("its size stands behind it, so that it cannot be unpacked while it is downloaded"));
    }
    found
}

/// Names that stand there twice: some readers take the first, others the last.
fn twice(entries: &[Entry]) -> Vec<Finding> {
    let mut names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    names.sort_unstable();
    let mut again: Vec<&str> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    again.dedup();
    again.into_iter().map(|name| Finding::error(Code::MemberTwice, "there twice").of(name)).collect()
}

/// Bytes between members that belong to none, and members that share bytes.
fn between(entries: &[Entry], start: u64, end: u64) -> Vec<Finding> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header);
    let (mut found, mut at, mut descriptor) = (Vec::new(), start, false);
    for entry in sorted {
        found.extend(gap(at, entry.header, descriptor).map(|finding| finding.of(&*entry.name)));
        (at, descriptor) = (at.max(entry.end()), entry.flags & DESCRIPTOR != 0);
    }
    found.extend(gap(at, end, descriptor));
    found
}

/// What lies between `from` and `to`, when that is not nothing; sizes that follow a member have
/// 12 to 24 bytes.
fn gap(from: u64, to: u64, descriptor: bool) -> Option<Finding> {
    match to.checked_sub(from) {
        Some(0) => None,
        Some(12 | 16 | 20 | 24) if descriptor => None,
        Some(bytes) => {
            Some(Finding::error(Code::StrayBytes, "before it are bytes that belong to no member").because(format!("{bytes} bytes")))
        }
        None => Some(Finding::error(Code::HeadersDisagree, "its bytes are another member's too")),
    }
}
