//! A wheel that is hashed while it is written, from front to back.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::Sender;

use sha2::{Digest as _, Sha256};

use wheel::archive::checksum;
use wheel::archive::stage::{SettlingFile, StagedFile};

/// An output and the hash of what was written so far.
pub(super) struct Hashed {
    file: SettlingFile,
    hasher: Sha256,
}

impl Hashed {
    pub fn new(file: StagedFile, disk: &Sender<StagedFile>) -> Self {
        Self { file: SettlingFile::new(file, disk), hasher: Sha256::new() }
    }

    /// The SHA-256 of all of it, in hexadecimal.
    pub fn finish(mut self) -> io::Result<String> {
        self.file.settle()?;
        Ok(checksum::Sha256::from(self.hasher).to_string())
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Members that are copied are written without going back.
impl Seek for Hashed {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a wheel is written from front to back"))
    }
}
