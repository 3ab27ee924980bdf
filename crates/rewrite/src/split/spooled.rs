//! Members that are made and not copied.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use wheel::archive::checksum::{Digest, Hasher};
use wheel::archive::deflate::{BLOCK, Encoder, Level, Method};
use wheel::archive::zip::CopiedMember;

/// A member as it is stored, in a file that nobody else sees: a zip tells size and checksum before the bytes.
#[derive(Debug)]
pub(super) struct Spooled {
    file: File,
    pub digest: Digest,
    method: Method,
    compressed: u64,
}

impl Spooled {
    /// Compresses so many bytes.
    pub fn deflated(mut source: impl Read, size: u64) -> io::Result<Self> {
        let (mut file, mut hasher) = (tempfile::tempfile()?, Hasher::default());
        let (mut encoder, mut block) = (Encoder::new(Level::Default), vec![0; BLOCK]);
        let (mut packed, mut left, mut compressed) = (Vec::new(), size, 0);
        loop {
            let count = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
            source.read_exact(&mut block[..count])?;
            left -= count as u64;
            hasher.update(&block[..count]);
            packed.clear();
            encoder.append_block(&block[..count], left == 0, &mut packed);
            file.write_all(&packed)?;
            compressed += packed.len() as u64;
            if left == 0 {
                break;
            }
        }
        Ok(Self { file, digest: hasher.finish(), method: Method::Deflate, compressed })
    }

    /// Takes a file as it is.
    pub fn stored(mut file: File) -> io::Result<Self> {
        file.rewind()?;
        let (mut hasher, mut block) = (Hasher::default(), vec![0; BLOCK]);
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                break;
            }
            hasher.update(&block[..count]);
        }
        let digest = hasher.finish();
        Ok(Self { file, digest, method: Method::Store, compressed: digest.size })
    }

    /// What the zip says of it.
    pub fn described(&self, mode: u32, time: (u16, u16)) -> CopiedMember {
        let Self { digest, method, compressed, .. } = self;
        let (method, compressed) = (*method, *compressed);
        CopiedMember { mode, time, method, crc: digest.crc, size: digest.size, compressed }
    }

    /// Its bytes as they are stored, from the first one on.
    pub fn bytes(&mut self) -> io::Result<&mut File> {
        self.file.rewind()?;
        Ok(&mut self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spooled_comes_out_again() {
        for size in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1] {
            let content: Vec<u8> = (0..size).map(|at| (at % 251).to_le_bytes()[0]).collect();
            let mut spooled = Spooled::deflated(&content[..], size as u64).unwrap();
            let mut out = Vec::new();
            let described = spooled.described(0o100_644, (0, 0));
            let mut packed = Vec::new();
            spooled.bytes().unwrap().read_to_end(&mut packed).unwrap();
            assert_eq!(described.compressed, packed.len() as u64);
            flate2::bufread::DeflateDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
            assert!(out == content && spooled.digest == Digest::of(&content), "{size}");
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&content).unwrap();
            let mut stored = Spooled::stored(file).unwrap();
            assert_eq!(stored.described(0, (0, 0)).compressed, size as u64);
            let mut again = Vec::new();
            stored.bytes().unwrap().read_to_end(&mut again).unwrap();
            assert!(again == content && stored.digest == Digest::of(&content), "{size}");
        }
        assert!(Spooled::deflated(&b"short"[..], 6).is_err());
    }
}
