//! Hash of several texts.

use base::hash::Sha256Hasher;

/// Incremental hash, which depends on all texts and their order.
pub struct Fingerprint(Sha256Hasher);

impl Fingerprint {
    pub fn new(domain: &str) -> Self {
        let mut hash = Self(Sha256Hasher::default());
        hash.add(domain);
        hash
    }

    /// Adds a text with its length, so that different lists have different inputs.
    pub fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    pub fn end(self) -> String {
        self.0.finish().sha256.to_string()
    }
}
