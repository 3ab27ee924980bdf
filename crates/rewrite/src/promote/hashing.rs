//! A file that is hashed while it is written, and what it is made of with it.
//!
//! Hashing is the slowest part of a copy. Up to its first member that is another, a promoted package has
//! the bytes of the old one: both hashes follow from the same work up to there.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::mpsc::Sender;

use sha2::{Digest as _, Sha256};

use base::regular;
use wheel::archive::checksum;
use wheel::archive::stage::{SettlingFile, StagedFile};

/// How much is read and written at once: it stays near the processor until it is hashed and written.
const BUFFER: usize = 256 << 10;

/// A new package, which is hashed as long as nobody goes back in it.
pub(super) struct HashingFile {
    file: SettlingFile,
    /// What is not yet written, of at most [`BUFFER`] bytes.
    waiting: Vec<u8>,
    /// How many bytes were written and hashed.
    written: u64,
    hasher: Sha256,
    went_back: bool,
    old: Old,
}

/// The package that a new one is made of.
struct Old {
    file: fs_err::File,
    /// Bytes of it, to compare with those that are written.
    buffer: Vec<u8>,
    /// The hash of its bytes up to a place, once they are not those that were written.
    parted: Option<(Sha256, u64)>,
}

impl HashingFile {
    /// A file that is made of the one at `old`, and that is sent to the disk through `disk`.
    ///
    /// # Errors
    /// When `old` cannot be read.
    pub fn new(file: StagedFile, old: &Path, disk: &Sender<StagedFile>) -> io::Result<Self> {
        let old = Old { file: regular::open(old)?, buffer: Vec::new(), parted: None };
        Ok(Self {
            file: SettlingFile::new(file, disk),
            waiting: Vec::with_capacity(BUFFER),
            written: 0,
            hasher: Sha256::new(),
            went_back: false,
            old,
        })
    }

    /// Writes bytes of the old package, which are read from `source` and begin at `at` in it; gives
    /// their number. In their old place, with nothing else before them, they are read and hashed once.
    ///
    /// # Errors
    /// When `source` cannot be read, or the new package cannot be written.
    pub fn copy_old(&mut self, at: u64, source: &mut impl Read) -> io::Result<u64> {
        self.write_waiting()?;
        let in_place = at == self.written && self.old.parted.is_none() && !self.went_back;
        let mut bytes = std::mem::take(&mut self.waiting);
        bytes.resize(BUFFER, 0);
        let mut total = 0;
        let copied = loop {
            let count = match source.read(&mut bytes) {
                Ok(0) => break Ok(total),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            };
            if let Err(error) = self.put(&bytes[..count], in_place) {
                break Err(error);
            }
            total += count as u64;
        };
        bytes.clear();
        self.waiting = bytes;
        copied
    }

    /// The hashes of the old package and of the new one, which is missing where somebody went back.
    ///
    /// # Errors
    /// When the old package cannot be read, or the last bytes cannot be written.
    pub fn hashes(mut self) -> io::Result<(String, Option<String>)> {
        self.write_waiting()?;
        self.file.settle()?;
        let old = self.old.finish(&self.hasher, self.written)?;
        Ok((old, (!self.went_back).then(|| text(self.hasher))))
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.waiting);
        let put = self.put(&bytes, false);
        bytes.clear();
        self.waiting = bytes;
        put
    }

    /// Writes bytes, and hashes them; `known` are those that the old package has there too.
    fn put(&mut self, bytes: &[u8], known: bool) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(bytes)?;
        if !self.went_back {
            if !known {
                self.old.follow(&self.hasher, self.written, bytes)?;
            }
            self.hasher.update(bytes);
            self.written += bytes.len() as u64;
        }
        Ok(())
    }
}

fn text(hasher: Sha256) -> String {
    checksum::Sha256::from(hasher).to_string()
}

impl Old {
    /// Compares what is written at `at` with what is there in the old package; `hasher` is of all
    /// that was written before, which both have.
    fn follow(&mut self, hasher: &Sha256, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.parted.is_some() {
            return Ok(());
        }
        self.buffer.resize(bytes.len(), 0);
        let mut read = 0;
        while read < bytes.len() {
            match self.file.file().read_at(&mut self.buffer[read..], at + read as u64)? {
                0 => break,
                count => read += count,
            }
        }
        let same = &self.buffer[..read];
        if same != bytes {
            let mut own = hasher.clone();
            own.update(same);
            self.parted = Some((own, at + read as u64));
        }
        Ok(())
    }

    /// Reads the rest. Where nothing differed so far, both have `written` bytes of one hash.
    fn finish(mut self, hasher: &Sha256, written: u64) -> io::Result<String> {
        let (mut own, at) = self.parted.take().unwrap_or_else(|| (hasher.clone(), written));
        self.file.seek(SeekFrom::Start(at))?;
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
        if self.waiting.len() + bytes.len() > BUFFER {
            self.write_waiting()?;
        }
        if bytes.len() < BUFFER {
            self.waiting.extend_from_slice(bytes);
        } else {
            self.put(bytes, false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.file.flush()
    }
}

impl Seek for HashingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.write_waiting()?;
        if !self.went_back {
            // What is hashed so far is of both, if they have not parted.
            self.old.parted.get_or_insert_with(|| (self.hasher.clone(), self.written));
            self.went_back = true;
        }
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use wheel::archive::Stage;

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

    /// The same where the new file is bytes of the old one, each with its place there, and others.
    #[test]
    fn bytes_of_the_old_file_count_wherever_they_go() {
        let old: Vec<u8> = (0..3 * BUFFER).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let spans = [(0, 10), (10, 2 * BUFFER + 5), (2 * BUFFER + 15, BUFFER - 15)];
        let shifted = [(0, 10), (11, BUFFER), (11 + BUFFER, 100)];
        for (spans, between) in
            [(&spans, &b""[..]), (&spans, b"x"), (&shifted, b""), (&shifted, b"y")]
        {
            let dir = tempfile::tempdir().unwrap();
            let place = dir.path().join("old");
            fs_err::write(&place, &old).unwrap();
            let stage = Stage::open(&dir.path().join("out")).unwrap();
            let (disk, _files) = channel();
            let staged = stage.create(&"new".parse().unwrap()).unwrap();
            let mut file = HashingFile::new(staged, &place, &disk).unwrap();
            let mut new = Vec::new();
            for (at, len) in spans {
                let bytes = &old[*at..at + len];
                assert_eq!(file.copy_old(*at as u64, &mut &*bytes).unwrap(), *len as u64);
                file.write_all(between).unwrap();
                new.extend([bytes, between].concat());
            }
            assert_eq!(file.hashes().unwrap(), (sha256(&old), Some(sha256(&new))));
            assert_eq!(fs_err::read(stage.path(&"new".parse().unwrap())).unwrap(), new);
        }
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
