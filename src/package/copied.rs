//! What an archive says of a member whose bytes go into another archive as they are.

use super::directory::Entry;
use crate::archive::Timestamp;
use crate::archive::deflate::Method;
use crate::archive::zip::CopiedMember;

/// The member for [`crate::archive::zip::ZipWriter::copy`].
///
/// # Errors
/// With the end of a sentence that starts with the member's name, when no installer takes it.
pub fn copied(entry: &Entry) -> Result<CopiedMember, &'static str> {
    let method = match entry.method {
        _ if entry.is_encrypted() => return Err("is encrypted"),
        0 => Method::Store,
        8 => Method::Deflate,
        _ => return Err("is neither stored nor deflated, which not all installers take"),
    };
    let (day, time) = entry.time;
    let sound = Timestamp::from_dos(time, day).is_some();
    Ok(CopiedMember {
        mode: if entry.mode == 0 { 0o100_644 } else { entry.mode },
        time: if sound { (time, day) } else { Timestamp::EARLIEST.dos() },
        method,
        crc: entry.crc32,
        size: entry.size,
        compressed: entry.compressed,
    })
}
