//! Hash of several texts.

use sha2::{Digest, Sha256};

use wheel::archive::checksum;

/// Incremental hash, which depends on all texts and their order.
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Starts a hash; `of` names the kind of values.
    pub fn new(of: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add(of);
        hash
    }

    /// Adds a text with its length, so that different lists never have the same input.
    pub fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// Returns the hash in hexadecimal.
    pub fn end(self) -> String {
        checksum::Sha256::from(self.0).to_string()
    }
}
