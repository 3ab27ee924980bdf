use super::directory::DirectoryEntry;
use crate::archive::Timestamp;
use crate::archive::deflate::Method;
use crate::archive::zip::CopiedMember;

/// Member that installers reject.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` {reason}")]
pub struct CopyError {
    /// Member.
    pub name: String,
    /// Reason, as the end of a sentence.
    pub reason: &'static str,
}

/// Parameters for [`crate::archive::zip::ZipWriter::copy`].
pub fn copied(entry: &DirectoryEntry) -> Result<CopiedMember, CopyError> {
    let refused = |reason| CopyError { name: entry.name.clone(), reason };
    let method = match entry.method {
        _ if entry.is_encrypted() => return Err(refused("is encrypted")),
        0 => Method::Store,
        8 => Method::Deflate,
        _ => return Err(refused("is neither stored nor deflated; some installers reject it")),
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
