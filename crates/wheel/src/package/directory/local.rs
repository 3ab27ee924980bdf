use std::fs::File;

use super::entry::{DESCRIPTOR, other_name};
use super::field::{half, wide, word};
use super::{DirectoryEntry, DirectoryError, read};
use crate::package::{Fault, FaultKind};

/// Size without name and extra fields.
const FIXED: u64 = 30;

pub(super) fn compare(
    file: &File,
    len: u64,
    entry: &mut DirectoryEntry,
) -> Result<Option<Fault>, DirectoryError> {
    let mut fixed = [0; 30];
    read(file, entry.header, &mut fixed)?;
    if !fixed.starts_with(b"PK\x03\x04") {
        return Err(DirectoryError::Broken(
            "a member is not at the place that the central \
            directory gives",
        ));
    }
    let (name, extra) = (usize::from(half(&fixed, 26)), usize::from(half(&fixed, 28)));
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
    let what = "local header and central directory disagree";
    let fault = differing(&fixed, name, extra, entry)
        .map(|field| Fault::new(FaultKind::Disagree, what).of(&entry.name).because(field));
    Ok(fault.or_else(|| other_name(name, extra)))
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
    if half(fixed, 6) != entry.flags {
        return Some("the flags");
    }
    if half(fixed, 8) != entry.method {
        return Some("the method");
    }
    if (half(fixed, 10), half(fixed, 12)) != (entry.time.1, entry.time.0) {
        return Some("the time");
    }
    // With a data descriptor, the header may have zeros or the final values.
    let sizes = wide(extra, [word(fixed, 22), word(fixed, 18)]);
    let follows = entry.flags & DESCRIPTOR != 0;
    if sizes != Some([entry.size, entry.compressed]) && !(follows && sizes == Some([0, 0])) {
        return Some("the sizes");
    }
    let crc32 = word(fixed, 14);
    (crc32 != entry.crc32 && !(follows && crc32 == 0)).then_some("the CRC-32")
}
