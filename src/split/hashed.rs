//! A wheel that is hashed while it is written, from front to back.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::Sender;

use sha2::{Digest as _, Sha256};

use crate::archive::checksum;
use crate::archive::stage::StagedFile;

/// After so many bytes the disk is asked to take what there is of a file.
const OFTEN: usize = 16 << 20;

/// An output and the hash of what was written so far.
pub(super) struct Hashed {
    file: StagedFile,
    hasher: Sha256,
    /// Brings files to the disk, while others go on.
    disk: Sender<StagedFile>,
    /// Bytes since it was asked to.
    since: usize,
}

impl Hashed {
    pub fn new(file: StagedFile, disk: &Sender<StagedFile>) -> Self {
        Self { file, hasher: Sha256::new(), disk: disk.clone(), since: 0 }
    }

    /// The SHA-256 of all of it, in hexadecimal.
    pub fn finish(mut self) -> io::Result<String> {
        self.bring_to_disk()?;
        let hash: [u8; 32] = self.hasher.finalize().into();
        Ok(checksum::Sha256::from(hash).to_string())
    }

    fn bring_to_disk(&mut self) -> io::Result<()> {
        self.since = 0;
        // Nobody waits for it: the other end goes when all is written.
        let _ = self.disk.send(self.file.twin()?);
        Ok(())
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.since += count;
        if self.since >= OFTEN {
            self.bring_to_disk()?;
        }
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
