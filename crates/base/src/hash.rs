//! SHA-256 and length of files and streams.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use sha2::Digest as _;

mod sha256;

pub use sha256::Sha256;

/// Size of the read buffer, which fits into a core's cache.
const PIECE: usize = 256 << 10;

/// SHA-256 and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    pub sha256: Sha256,
    /// Length in bytes.
    pub size: u64,
}

/// Hasher that counts bytes.
#[derive(Debug, Clone, Default)]
pub struct Sha256Hasher {
    hasher: sha2::Sha256,
    size: u64,
}

impl Sha256Hasher {
    /// Adds `bytes`.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
    }

    /// Adds the bytes of `range`; `read(offset, buffer)` fills the buffer.
    pub fn update_from(
        &mut self,
        range: Range<u64>,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut piece, mut offset) = (vec![0; PIECE], range.start);
        while offset < range.end {
            let len = usize::try_from(range.end - offset).unwrap_or(PIECE).min(PIECE);
            read(offset, &mut piece[..len])?;
            self.update(&piece[..len]);
            offset += len as u64;
        }
        Ok(())
    }

    /// Number of bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns hash and length.
    pub fn finish(self) -> Sum {
        Sum { sha256: self.hasher.into(), size: self.size }
    }
}

/// Hexadecimal SHA-256 of the bytes that `write` writes.
///
/// # Panics
/// If `write` fails. A hasher accepts every byte, so that only a value without a text can fail; a
/// hash of the bytes before it would be equal for different values.
pub fn sha256_of_writing(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut hasher = Sha256Hasher::default();
    write(&mut hasher).expect("a hasher accepts every byte, and the value has a text");
    hasher.finish().sha256.to_string()
}

impl Write for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader or writer that hashes and counts its bytes.
#[derive(Debug)]
pub struct Hashed<S> {
    stream: S,
    hasher: Sha256Hasher,
    has_failed: bool,
}

impl<S> Hashed<S> {
    /// Hashes from here on.
    pub fn new(stream: S) -> Self {
        Self { stream, hasher: Sha256Hasher::default(), has_failed: false }
    }

    /// Returns whether the inner reader has failed. Callers distinguish this from errors of the code
    /// that used the bytes.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The stream, with hash and length.
    pub fn finish(self) -> (S, Sum) {
        (self.stream, self.hasher.finish())
    }
}

impl<R: Read> Hashed<R> {
    /// Reads the rest; returns hash and length.
    pub fn read_to_end(mut self) -> io::Result<Sum> {
        let mut piece = vec![0; PIECE];
        loop {
            match self.read(&mut piece) {
                Ok(0) => return Ok(self.hasher.finish()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(out);
        match &read {
            Ok(count) => self.hasher.update(&out[..*count]),
            Err(error) => self.has_failed |= error.kind() != ErrorKind::Interrupted,
        }
        read
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Hash and length of `reader`.
pub fn of_reader(reader: impl Read) -> io::Result<Sum> {
    Hashed::new(reader).read_to_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_readers_writers_and_ranges_alike() {
        let content: Vec<u8> =
            (0..2 * PIECE + 7).map(|index| (index % 251).to_le_bytes()[0]).collect();
        let expected = Sum { sha256: Sha256::of(&content), size: content.len() as u64 };
        assert_eq!(of_reader(&*content).unwrap(), expected);
        let mut half_read = Hashed::new(&*content);
        half_read.read_exact(&mut [0; 9]).unwrap();
        assert_eq!(half_read.read_to_end().unwrap(), expected);
        let mut writer = Hashed::new(Vec::new());
        writer.write_all(&content).unwrap();
        assert_eq!(writer.finish(), (content.clone(), expected));
        let mut hasher = Sha256Hasher::default();
        let read = |offset: u64, out: &mut [u8]| {
            let offset = usize::try_from(offset).unwrap();
            let bytes = content.get(offset..offset + out.len()).ok_or(ErrorKind::UnexpectedEof)?;
            out.copy_from_slice(bytes);
            Ok(())
        };
        hasher.update_from(0..9, read).unwrap();
        hasher.update_from(9..expected.size, read).unwrap();
        assert!(hasher.update_from(expected.size..expected.size + 1, read).is_err());
        assert_eq!(hasher.finish(), expected);
    }

    #[test]
    #[should_panic(expected = "no text")]
    fn partly_written_values_have_no_hash() {
        sha256_of_writing(|out| {
            out.write_all(b"[")?;
            Err(io::Error::other("no text"))
        });
    }

    #[test]
    fn counts_faults_of_the_reader_but_no_short_read() {
        let mut hashed = Hashed::new(&b"abc"[..]);
        assert!(hashed.read_exact(&mut [0; 4]).is_err());
        assert!(!hashed.has_failed());
        let dir = tempfile::tempdir().unwrap();
        let mut hashed = Hashed::new(fs_err::File::open(dir.path()).unwrap());
        assert!(hashed.read(&mut [0]).is_err());
        assert!(hashed.has_failed());
    }
}
