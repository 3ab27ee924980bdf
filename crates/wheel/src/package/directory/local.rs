use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::entry::{DESCRIPTOR, extra_faults};
use super::field::{self, ZIP64, u16_at, u32_at, zip64_values};
use super::{DirectoryEntry, DirectoryError, read};
use crate::package::{Fault, FaultKind};

/// Size without name and extra fields.
const FIXED: u64 = 30;

pub(super) fn compare(
    file: &File,
    len: u64,
    entry: &mut DirectoryEntry,
) -> Result<Vec<Fault>, DirectoryError> {
    let mut fixed = [0; 30];
    read(file, entry.header, &mut fixed)?;
    if !fixed.starts_with(b"PK\x03\x04") {
        return Err(DirectoryError::Broken(
            "a member is not at the place that the central \
            directory gives",
        ));
    }
    let (name, extra) = (usize::from(u16_at(&fixed, 26)), usize::from(u16_at(&fixed, 28)));
    let mut more = vec![0; name + extra];
    read(file, entry.header + FIXED, &mut more)?;
    entry.data = entry.header + FIXED + more.len() as u64;
    let end = entry
        .data
        .checked_add(entry.compressed)
        .ok_or(DirectoryError::Broken("a member is longer than a file can be"))?;
    if end > len {
        return Err(DirectoryError::Broken("a member ends after the end of the file"));
    }
    let (name, extra) = more.split_at(name);
    entry.is_wide |= field::extra_field(extra, ZIP64).is_some();
    entry.needed = entry.needed.max(fixed[4]);
    let message = "local header and central directory disagree";
    let fault = |kind, field| Fault::new(kind, message).of(&entry.name).because(field);
    let numbers = [u32_at(&fixed, 22), u32_at(&fixed, 18)];
    let sizes = numbers.map(|number| u64::from(number).to_le_bytes()).concat();
    // Python's `force_zip64` reserves the field before the sizes are known; installers read them.
    let is_reserved = field::extra_field(extra, ZIP64) == Some(&sizes[..]);
    let reserved = if is_reserved { [u32::MAX; 2] } else { numbers };
    let mut faults = extra_faults(name, extra, &reserved);
    if let Some(field) = differing(&fixed, name, extra, entry) {
        faults.push(fault(FaultKind::Disagree, field));
    } else if let Some(field) = idle(&fixed, entry) {
        faults.push(fault(FaultKind::HarmlessDifference, field));
    }
    if entry.flags & DESCRIPTOR != 0 && !is_described(file, end, entry)? {
        let message = "no valid data descriptor after the content, which installers need";
        faults.push(Fault::new(FaultKind::Feature, message).of(&entry.name));
    }
    Ok(faults)
}

/// The signature is optional; sizes have 64 bits if a zip64 field is present (APPNOTE 4.3.9).
fn is_described(file: &File, at: u64, entry: &DirectoryEntry) -> io::Result<bool> {
    let mut bytes = [0; 24];
    let read = file.read_at(&mut bytes, at)?;
    let descriptor = &bytes[..read];
    let descriptor = descriptor.strip_prefix(b"PK\x07\x08").unwrap_or(descriptor);
    let crc32 = entry.crc32.to_le_bytes();
    let sizes = [entry.compressed, entry.size];
    let short: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()[..4].to_vec()).collect();
    let long: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    let is_wide = sizes.iter().any(|size| *size >= u32::MAX.into()) || entry.is_wide;
    let sizes = if is_wide { long } else { short };
    Ok(descriptor.strip_prefix(&crc32).is_some_and(|descriptor| descriptor.starts_with(&sizes)))
}

fn idle_flags(entry: &DirectoryEntry) -> u16 {
    if entry.name.is_ascii() { 0b110 | 1 << 11 } else { 0b110 }
}

fn idle(fixed: &[u8], entry: &DirectoryEntry) -> Option<&'static str> {
    if (u16_at(fixed, 10), u16_at(fixed, 12)) != (entry.time.1, entry.time.0) {
        return Some("the time");
    }
    (u16_at(fixed, 6) != entry.flags).then_some("the flags")
}

fn differing(
    fixed: &[u8],
    name: &[u8],
    extra: &[u8],
    entry: &DirectoryEntry,
) -> Option<&'static str> {
    if String::from_utf8_lossy(name) != entry.name {
        return Some("the name");
    }
    if (u16_at(fixed, 6) ^ entry.flags) & !idle_flags(entry) != 0 {
        return Some("the flags");
    }
    if u16_at(fixed, 8) != entry.method {
        return Some("the method");
    }
    // With a data descriptor, the header may have zeros or the final values.
    let sizes = zip64_values(extra, [u32_at(fixed, 22), u32_at(fixed, 18)]);
    let follows = entry.flags & DESCRIPTOR != 0;
    if sizes != Some([entry.size, entry.compressed]) && !(follows && sizes == Some([0, 0])) {
        return Some("the sizes");
    }
    let crc32 = u32_at(fixed, 14);
    (crc32 != entry.crc32 && !(follows && crc32 == 0)).then_some("the CRC-32")
}
