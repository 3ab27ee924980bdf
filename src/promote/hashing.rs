//! A file that is hashed while it is written, and what it is made of with it.
//!
//! Hashing is the slowest part of a copy. Up to its first member that is another, a promoted package has
//! the bytes of the old one: both hashes follow from the same work up to there.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::Sender;

use sha2::{Digest as _, Sha256};

use crate::archive::checksum;
use crate::archive::stage::StagedFile;
use crate::regular;

/// After so many bytes the disk is asked to take what there is of a file.
const OFTEN: usize = 64 << 20;
/// How much of the old package is read at once where nothing is written.
const BUFFER: usize = 256 << 10;

/// A new package, which is hashed as long as nobody goes back in it.
pub(super) struct HashingFile {
    file: StagedFile,
    hasher: Sha256,
    went_back: bool,
    old: Old,
    /// Brings files to the disk.
    disk: Sender<StagedFile>,
    /// Bytes since it was asked to.
    since: usize,
}

/// The package that a new one is made of.
struct Old {
    file: fs_err::File,
    /// Bytes of it, to compare with those that are written.
    buffer: Vec<u8>,
    /// The hash of what was read of it, once that is not what was written.
    parted: Option<Sha256>,
}

impl HashingFile {
    /// A file that is made of the one at `old`, and that is sent to the disk through `disk`.
    ///
    /// # Errors
    /// When `old` cannot be read.
    pub fn new(file: StagedFile, old: &Path, disk: &Sender<StagedFile>) -> io::Result<Self> {
        let old = Old { file: regular::open(old)?, buffer: Vec::new(), parted: None };
        let disk = disk.clone();
        Ok(Self { file, hasher: Sha256::new(), went_back: false, old, disk, since: 0 })
    }

    /// The hashes of the old package and of the new one, which is missing where somebody went back.
    ///
    /// # Errors
    /// When the old package cannot be read.
    pub fn hashes(self) -> io::Result<(String, Option<String>)> {
        let old = self.old.finish(&self.hasher)?;
        Ok((old, (!self.went_back).then(|| text(self.hasher))))
    }
}

fn text(hasher: Sha256) -> String {
    let hash: [u8; 32] = hasher.finalize().into();
    checksum::Sha256::from(hash).to_string()
}

impl Old {
    /// Reads as many bytes as are written now; `hasher` is of all that was written before.
    fn follow(&mut self, hasher: &Sha256, bytes: &[u8]) -> io::Result<()> {
        if self.parted.is_some() {
            return Ok(());
        }
        self.buffer.clear();
        Read::by_ref(&mut self.file).take(bytes.len() as u64).read_to_end(&mut self.buffer)?;
        if self.buffer != bytes {
            let mut own = hasher.clone();
            own.update(&self.buffer);
            self.parted = Some(own);
        }
        Ok(())
    }

    /// Reads the rest.
    fn finish(mut self, hasher: &Sha256) -> io::Result<String> {
        let mut own = self.parted.take().unwrap_or_else(|| hasher.clone());
        self.buffer.resize(BUFFER, 0);
        loop {
            match self.file.read(&mut self.buffer)? {
                0 => return Ok(text(own)),
                count => own.update(&self.buffer[..count]),
            }
        }
    }
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        if !self.went_back {
            self.old.follow(&self.hasher, &bytes[..count])?;
            self.hasher.update(&bytes[..count]);
        }
        self.since += count;
        if self.since >= OFTEN {
            self.since = 0;
            // Nobody waits for it: the other end goes when all is written.
            let _ = self.disk.send(self.file.twin()?);
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for HashingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if !self.went_back {
            // What is hashed so far is of both, if they have not parted.
            self.old.parted.get_or_insert_with(|| self.hasher.clone());
            self.went_back = true;
        }
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::archive::Stage;

    /// The hashes of an old file and of one that is written in these parts, with a step back behind
    /// part `back`.
    fn hashes(old: &[u8], parts: &[&[u8]], back: Option<usize>) -> (String, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("old");
        fs_err::write(&place, old).unwrap();
        let stage = Stage::open(&dir.path().join("out")).unwrap();
        let (disk, _files) = channel();
        let staged = stage.create(&"new".parse().unwrap()).unwrap();
        let mut file = HashingFile::new(staged, &place, &disk).unwrap();
        for (index, part) in parts.iter().enumerate() {
            file.write_all(part).unwrap();
            if back == Some(index) {
                file.rewind().unwrap();
            }
        }
        file.hashes().unwrap()
    }

    fn sha256(bytes: &[u8]) -> String {
        let mut hasher = Sha256::new();
        hasher.update(bytes);
        text(hasher)
    }

    #[test]
    fn both_hashes_are_those_of_the_whole_files() {
        let long = vec![7; 3 * BUFFER];
        let olds = [&b"one two three"[..], b"one", b"", b"one two", b"other", &long];
        let news: [&[&[u8]]; 5] = [
            &[b"one ", b"two ", b"three"],
            &[b"one ", b"2 ", b"three"],
            &[b"one"],
            &[],
            &[&long, b"more"],
        ];
        for old in olds {
            for new in news {
                let expected = (sha256(old), Some(sha256(&new.concat())));
                assert_eq!(hashes(old, new, None), expected, "{} {}", old.len(), new.len());
                for back in 0..new.len() {
                    assert_eq!(hashes(old, new, Some(back)), (sha256(old), None));
                }
            }
        }
    }
}
