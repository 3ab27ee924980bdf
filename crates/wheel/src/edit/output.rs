//! Package hashed while it is written, with its old package.
//!
//! Hashing is the slowest part of a copy. Equal bytes at the start are hashed once for both.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use crate::archive::stage::{StagedFile, SyncingFile};
use base::hash::Sha256Hasher;
use base::regular;

/// Fits into the processor's cache.
const BUFFER: usize = 256 << 10;

/// File for a wheel.
pub trait Sink: Write + Seek {
    /// Writes bytes of the old wheel from `at` on; returns their number.
    fn copy_old(&mut self, at: u64, source: &mut dyn Read) -> io::Result<u64>;
}

impl<W: Write + Seek> Sink for BufWriter<W> {
    fn copy_old(&mut self, _: u64, source: &mut dyn Read) -> io::Result<u64> {
        io::copy(source, self)
    }
}

/// New package, hashed until an earlier place is rewritten.
pub struct Output {
    place: PathBuf,
    file: SyncingFile,
    /// At most [`BUFFER`] bytes.
    waiting: Vec<u8>,
    hasher: Sha256Hasher,
    went_back: bool,
    old: Option<Old>,
}

struct Old {
    file: fs_err::File,
    buffer: Vec<u8>,
    /// Hash up to a place, from the first difference on.
    parted: Option<Sha256Hasher>,
}

/// SHA-256 of packages, in hexadecimal.
#[derive(Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Old package, if given.
    pub old: Option<String>,
    /// New package.
    pub new: String,
}

impl Output {
    /// Output in `file`, synced by `disk`; also hashes the package at `old`.
    pub fn new(
        file: StagedFile,
        old: Option<&Path>,
        disk: &SyncSender<StagedFile>,
    ) -> io::Result<Self> {
        let old = old.map(regular::open).transpose()?;
        let old = old.map(|file| Old { file, buffer: Vec::new(), parted: None });
        let (place, waiting) = (file.place().to_owned(), Vec::with_capacity(BUFFER));
        let file = SyncingFile::new(file, disk);
        Ok(Self { place, file, waiting, hasher: Sha256Hasher::default(), went_back: false, old })
    }

    /// Ends the output; returns the hashes.
    pub fn finish(mut self) -> io::Result<Hashes> {
        self.write_waiting()?;
        self.file.request_sync()?;
        let old = self.old.map(|old| old.finish(&self.hasher)).transpose()?;
        let new = if self.went_back { regular::sha256(&self.place)? } else { text(self.hasher) };
        Ok(Hashes { old, new })
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.waiting);
        let result = self.write_bytes(&bytes, false);
        bytes.clear();
        self.waiting = bytes;
        result
    }

    /// `known`: the old package has the same bytes in the same place.
    fn write_bytes(&mut self, bytes: &[u8], known: bool) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(bytes)?;
        if !self.went_back {
            if let Some(old) = self.old.as_mut().filter(|_| !known) {
                old.follow(&self.hasher, bytes)?;
            }
            self.hasher.update(bytes);
        }
        Ok(())
    }
}

fn text(hasher: Sha256Hasher) -> String {
    hasher.finish().sha256.to_string()
}

impl Old {
    /// `hasher` has all bytes before.
    fn follow(&mut self, hasher: &Sha256Hasher, bytes: &[u8]) -> io::Result<()> {
        if self.parted.is_some() {
            return Ok(());
        }
        self.buffer.resize(bytes.len(), 0);
        let (offset, mut read) = (hasher.size(), 0);
        while read < bytes.len() {
            match self.file.file().read_at(&mut self.buffer[read..], offset + read as u64)? {
                0 => break,
                count => read += count,
            }
        }
        let old_bytes = &self.buffer[..read];
        if old_bytes != bytes {
            let mut own_hasher = hasher.clone();
            own_hasher.update(old_bytes);
            self.parted = Some(own_hasher);
        }
        Ok(())
    }

    fn finish(mut self, hasher: &Sha256Hasher) -> io::Result<String> {
        let mut own_hasher = self.parted.take().unwrap_or_else(|| hasher.clone());
        self.file.seek(SeekFrom::Start(own_hasher.size()))?;
        self.buffer.resize(BUFFER, 0);
        loop {
            match self.file.read(&mut self.buffer)? {
                0 => return Ok(text(own_hasher)),
                count => own_hasher.update(&self.buffer[..count]),
            }
        }
    }
}

impl Sink for Output {
    /// In their old place after equal bytes, bytes are read and hashed once.
    fn copy_old(&mut self, at: u64, source: &mut dyn Read) -> io::Result<u64> {
        self.write_waiting()?;
        let in_place = self.old.as_ref().is_some_and(|old| old.parted.is_none());
        let in_place = in_place && at == self.hasher.size() && !self.went_back;
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
            if let Err(error) = self.write_bytes(&bytes[..count], in_place) {
                break Err(error);
            }
            total += count as u64;
        };
        bytes.clear();
        self.waiting = bytes;
        copied
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.waiting.len() + bytes.len() > BUFFER {
            self.write_waiting()?;
        }
        if bytes.len() < BUFFER {
            self.waiting.extend_from_slice(bytes);
        } else {
            self.write_bytes(bytes, false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.file.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.write_waiting()?;
        if !self.went_back {
            if let Some(old) = &mut self.old {
                old.parted.get_or_insert_with(|| self.hasher.clone());
            }
            self.went_back = true;
        }
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::archive::Stage;

    fn made(old: &[u8], write: impl FnOnce(&mut Output)) -> (Hashes, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("old");
        fs_err::write(&place, old).unwrap();
        let stage = Stage::open(&dir.path().join("out")).unwrap();
        let path = "new".parse().unwrap();
        let (disk, _files) = sync_channel(32);
        let mut file = Output::new(stage.create(&path).unwrap(), Some(&place), &disk).unwrap();
        write(&mut file);
        (file.finish().unwrap(), fs_err::read(stage.path(&path)).unwrap())
    }

    fn sha256(bytes: &[u8]) -> String {
        let mut hasher = Sha256Hasher::default();
        hasher.update(bytes);
        text(hasher)
    }

    fn expected(old: &[u8], new: &[u8]) -> Hashes {
        Hashes { old: Some(sha256(old)), new: sha256(new) }
    }

    #[test]
    fn bytes_of_the_old_file_count_wherever_they_go() {
        let old: Vec<u8> = (0..3 * BUFFER).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let spans = [(0, 10), (10, 2 * BUFFER + 5), (2 * BUFFER + 15, BUFFER - 15)];
        let shifted = [(0, 10), (11, BUFFER), (11 + BUFFER, 100)];
        for (spans, between) in
            [(&spans, &b""[..]), (&spans, b"x"), (&shifted, b""), (&shifted, b"y")]
        {
            let parts = spans.map(|(at, len)| [&old[at..at + len], between].concat());
            let (hashes, bytes) = made(&old, |file| {
                for (at, len) in spans {
                    let bytes = &old[*at..at + len];
                    assert_eq!(file.copy_old(*at as u64, &mut &*bytes).unwrap(), *len as u64);
                    file.write_all(between).unwrap();
                }
            });
            assert!(bytes == parts.concat());
            assert_eq!(hashes, expected(&old, &bytes));
        }
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
        let cases = olds.into_iter().flat_map(|old| news.into_iter().map(move |new| (old, new)));
        for (old, new) in cases {
            for back in 0..=new.len() {
                let (hashes, bytes) = made(old, |file| {
                    let (before, after) = new.split_at(back);
                    before.iter().try_for_each(|part| file.write_all(part)).unwrap();
                    if !after.is_empty() {
                        file.rewind().unwrap();
                        file.write_all(b"back").unwrap();
                    }
                    after.iter().try_for_each(|part| file.write_all(part)).unwrap();
                });
                assert!(back < new.len() || bytes == new.concat());
                assert_eq!(hashes, expected(old, &bytes), "{} {back}", old.len());
            }
        }
    }

    #[test]
    fn a_package_of_nothing_has_one_hash() {
        let dir = tempfile::tempdir().unwrap();
        let stage = Stage::open(dir.path()).unwrap();
        let (disk, _files) = sync_channel(32);
        let staged = stage.create(&"new".parse().unwrap()).unwrap();
        let mut file = Output::new(staged, None, &disk).unwrap();
        assert_eq!(file.copy_old(7, &mut &b"one"[..]).unwrap(), 3);
        assert_eq!(file.finish().unwrap(), Hashes { old: None, new: sha256(b"one") });
    }
}
