//! SHA-256 of files, and of what is written.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of a file in hexadecimal; reads it in pieces.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(hexadecimal(hasher))
}

/// The SHA-256 of what `write` writes, in hexadecimal.
pub(super) fn sha256_of_writing(write: impl FnOnce(&mut Hashing) -> io::Result<()>) -> String {
    let mut hashing = Hashing::default();
    // Nothing here can fail but the writer, which takes everything.
    let _ = write(&mut hashing);
    hashing.hexadecimal()
}

/// Takes everything, and keeps its hash.
#[derive(Default)]
pub(super) struct Hashing(Sha256);

impl Hashing {
    /// The hash of what it took.
    pub fn hexadecimal(self) -> String {
        hexadecimal(self.0)
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

fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
