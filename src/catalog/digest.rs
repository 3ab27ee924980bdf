//! SHA-256 of what is written.

use std::io::{self, Write};

use sha2::Digest;

use crate::archive::checksum::Sha256;

/// The SHA-256 of what `write` writes, in hexadecimal.
pub(super) fn sha256_of_writing(write: impl FnOnce(&mut Hashing) -> io::Result<()>) -> String {
    let mut hashing = Hashing::default();
    // Nothing here can fail but the writer, which takes everything.
    let _ = write(&mut hashing);
    hashing.hexadecimal()
}

/// Takes everything, and keeps its hash.
#[derive(Default)]
pub(super) struct Hashing(sha2::Sha256);

impl Hashing {
    /// The hash of what it took.
    pub fn hexadecimal(self) -> String {
        Sha256::from(self.0).to_string()
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
