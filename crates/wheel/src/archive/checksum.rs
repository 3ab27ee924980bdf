//! Checksums in archives: CRC-32 in zip headers, SHA-256 in RECORD.

use base::hash::{Sha256, Sha256Hasher, Sum};

/// CRC-32 of zip and gzip, combinable from parts.
#[derive(Debug, Clone, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Checksums `data`.
    pub fn of(data: &[u8]) -> Self {
        let mut checksum = Self::default();
        checksum.update(data);
        checksum
    }

    /// Adds `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// Appends the bytes that have the checksum `next`, without reading them.
    pub fn append(&mut self, next: &Self) {
        self.0.combine(&next.0);
    }

    /// CRC-32 of all bytes so far.
    pub fn value(&self) -> u32 {
        self.0.clone().finalize()
    }
}

/// Checksums and size of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// CRC-32.
    pub crc: u32,
    /// SHA-256.
    pub sha256: Sha256,
    /// Size in bytes before compression.
    pub size: u64,
}

impl Digest {
    /// Digests `data`.
    pub fn of(data: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(data);
        hasher.finish()
    }
}

/// Incremental computation of a [`Digest`].
#[derive(Debug, Clone, Default)]
pub struct Hasher {
    crc: Checksum,
    sum: Sha256Hasher,
}

impl Hasher {
    /// Adds `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.crc.update(data);
        self.sum.update(data);
    }

    /// Digest of all bytes.
    pub fn finish(self) -> Digest {
        let Sum { sha256, size } = self.sum.finish();
        Digest { crc: self.crc.value(), sha256, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_its_parts() {
        let mut joined = Checksum::of(b"1234");
        joined.append(&Checksum::of(b""));
        joined.append(&Checksum::of(b"56789"));
        // Check value of CRC-32/ISO-HDLC.
        assert_eq!(joined.value(), 0xcbf4_3926);
    }

    #[test]
    fn a_digest_knows_the_empty_file() {
        let digest = Digest::of(b"");
        assert_eq!(
            digest.sha256.for_record(),
            "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
        );
        assert_eq!(
            digest.sha256.to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!((digest.crc, digest.size), (0, 0));
    }
}
