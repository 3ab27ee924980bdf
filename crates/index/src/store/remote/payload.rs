//! What is sent, without holding it in memory.

use std::io;

use bytes::Bytes;
use memmap2::Mmap;
use object_store::PutPayload;

use crate::store::Body;
use base::regular;

/// The bytes to send. Those of a file are mapped: packages have gigabytes, all tries need them from the start,
/// and the store is told their checksum before the first.
///
/// # Errors
/// When the file cannot be read.
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

#[expect(
    unsafe_code,
    reason = "no crate maps a file that is safe against those who shorten it meanwhile"
)]
fn map(file: &std::fs::File) -> io::Result<Mmap> {
    // SAFETY: the bytes go to a socket and a checksum, and nothing here depends on them to stay. Who shortens the
    // file meanwhile ends the program by SIGBUS; `Body::File` says that nobody may.
    unsafe { Mmap::map(file) }
}
