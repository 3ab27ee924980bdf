//! Request bodies without copies in memory.

use std::io;

use bytes::Bytes;
use memmap2::Mmap;
use object_store::PutPayload;

use crate::store::Body;
use base::regular;

/// Maps files: packages have gigabytes, and retries restart at the first byte.
pub(super) fn payload(body: Body<'_>) -> io::Result<PutPayload> {
    match body {
        Body::Bytes(bytes) => Ok(Bytes::copy_from_slice(bytes).into()),
        Body::File(path) => {
            let file = regular::open(path)?;
            if file.metadata()?.len() == 0 {
                return Ok(PutPayload::new());
            }
            Ok(Bytes::from_owner(map(file.file())?).into())
        }
    }
}

#[expect(unsafe_code, reason = "no crate maps files safely if another program truncates them")]
fn map(file: &std::fs::File) -> io::Result<Mmap> {
    // SAFETY: the bytes are only sent and hashed; no code depends on them staying equal. Truncation
    // of the file meanwhile kills the program by SIGBUS; `Body::File` forbids it.
    unsafe { Mmap::map(file) }
}
