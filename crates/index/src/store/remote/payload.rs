//! Request bodies without copies in memory.

use std::io;

use bytes::Bytes;
use object_store::PutPayload;

use crate::mapped::map;
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
            Ok(Bytes::from_owner(map(&file)?).into())
        }
    }
}
