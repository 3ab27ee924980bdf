//! What a key stands for, spelled out.

use std::time::Duration;

use super::key::{Content, Key};

/// How a packed stream is made: of which content, with which settings. A key is its hash; who keeps streams
/// for other machines tells them this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The hash of what is packed.
    pub content: Content,
    /// How many bytes that has.
    pub size: u64,
    /// What [`Key::new`] takes: whatever else has a say in the packed bytes.
    pub settings: String,
    /// About how long one thread packs it. Not part of the key.
    pub effort: Duration,
}

impl Recipe {
    /// What the stream is found by in a cache.
    pub fn key(&self) -> Key {
        Key::new(self.content, &self.settings)
    }
}
