//! One hash for many things.

use base::hash::Sha256Hasher;

/// A hash that grows: equal only when the same texts were added in the same order.
pub struct Fingerprint(Sha256Hasher);

impl Fingerprint {
    /// Starts a hash over values of one kind, which `of` names.
    pub fn new(of: &str) -> Self {
        let mut hash = Self(Sha256Hasher::default());
        hash.add(of);
        hash
    }

    /// Adds a text, with its length, so that no two lists of texts are the same.
    pub fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// The hash in hexadecimal digits.
    pub fn end(self) -> String {
        self.0.finish().sha256.to_string()
    }
}
