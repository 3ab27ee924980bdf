use super::end::has_signature;
use super::field::{self, Fields, u16_at, u32_at};
use crate::package::{Fault, FaultKind};

/// Member in the central directory.
#[derive(Debug, Clone)]
pub struct DirectoryEntry {
    /// Name, with non-UTF-8 bytes replaced.
    pub name: String,
    /// Whether the name is UTF-8 and marked as such.
    pub utf8: bool,
    /// Flags (APPNOTE 4.4.4).
    pub flags: u16,
    /// Version of the format that a reader needs, times ten.
    pub needed: u8,
    /// Compression method: 0 stored, 8 deflated.
    pub method: u16,
    /// Date and time in DOS format.
    pub time: (u16, u16),
    /// CRC-32 of the unpacked bytes.
    pub crc32: u32,
    /// Packed size in bytes.
    pub compressed: u64,
    /// Unpacked size in bytes.
    pub size: u64,
    /// Unix type and permissions; 0 if absent.
    pub mode: u32,
    /// Whether the member was made on Unix.
    pub is_unix: bool,
    /// Whether a header has a zip64 field.
    pub is_wide: bool,
    /// Offset of the local header.
    pub header: u64,
    /// Offset of the packed bytes.
    pub data: u64,
}

const ENTRY: usize = 46;
pub(super) const DESCRIPTOR: u16 = 1 << 3;
pub(super) const ENCRYPTED: u16 = 1;
const UTF8: u16 = 1 << 11;
const UNIX: u8 = 3;

impl DirectoryEntry {
    /// True for a directory.
    pub fn is_directory(&self) -> bool {
        self.name.ends_with('/') || self.mode & 0o170_000 == 0o040_000
    }

    /// True for an uncompressed member.
    pub fn is_stored(&self) -> bool {
        self.method == 0
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.flags & ENCRYPTED != 0
    }

    pub(super) fn end(&self) -> u64 {
        self.data + self.compressed
    }

    /// `prefix` is the number of bytes before the archive.
    pub(super) fn read(rest: &mut Fields<'_>, prefix: u64) -> Option<(Self, Vec<Fault>)> {
        let [fixed, name, extra, comment] = parts(rest)?;
        let numbers = [24, 20, 42].map(|at| u32_at(fixed, at));
        let [size, compressed, header] = field::zip64_values(extra, numbers)?;
        let flags = u16_at(fixed, 8);
        let text = std::str::from_utf8(name);
        let entry = Self {
            name: String::from_utf8_lossy(name).into_owned(),
            utf8: text.is_ok_and(|text| text.is_ascii() || flags & UTF8 != 0),
            flags,
            needed: fixed[6],
            method: u16_at(fixed, 10),
            time: (u16_at(fixed, 14), u16_at(fixed, 12)),
            crc32: u32_at(fixed, 16),
            compressed,
            size,
            mode: u32_at(fixed, 38) >> 16,
            is_unix: fixed[5] == UNIX,
            is_wide: field::extra_field(extra, field::ZIP64).is_some(),
            header: header.checked_add(prefix)?,
            data: 0,
        };
        let mut faults = extra_faults(name, extra, &numbers);
        if has_signature(comment) {
            let message = "its comment contains parts of an archive, which installers reject";
            faults.push(Fault::new(FaultKind::Feature, message).of(&entry.name));
        }
        Some((entry, faults))
    }
}

/// Fixed part, name, extra fields and comment.
fn parts<'a>(rest: &mut Fields<'a>) -> Option<[&'a [u8]; 4]> {
    let fixed = rest.take(ENTRY)?;
    if !fixed.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (name, extra) =
        (rest.take(u16_at(fixed, 28).into())?, rest.take(u16_at(fixed, 30).into())?);
    let comment = rest.take(u16_at(fixed, 32).into())?;
    Some([fixed, name, extra, comment])
}

pub(super) fn extra_faults(name: &[u8], extra: &[u8], numbers: &[u32]) -> Vec<Fault> {
    let fault = |what| Fault::new(FaultKind::Feature, what).of(String::from_utf8_lossy(name));
    let mut faults = Vec::from_iter(other_name(name, extra));
    faults.extend(field::fault(extra).map(fault));
    let width = numbers.iter().filter(|number| **number == u32::MAX).count() * 8;
    if field::extra_field(extra, field::ZIP64).is_some_and(|wide| wide.len() != width) {
        faults.push(fault("zip64 field with other values than needed, which installers reject"));
    }
    faults
}

/// Compares with the Unicode path field (APPNOTE 4.6.9).
fn other_name(name: &[u8], extra: &[u8]) -> Option<Fault> {
    const PATH: u16 = 0x7075;
    let other_path = field::extra_field(extra, PATH)?.get(5..).unwrap_or_default();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (other_path != name).then(|| {
        Fault::new(FaultKind::Disagree, "another name in an extra field")
            .of(text(name))
            .because(format!("`{}`", text(other_path)))
    })
}
