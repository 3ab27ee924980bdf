use std::time::Duration;

use super::key::{ContentDigest, Key};

/// Content and settings of a stream: input of its key, and sent to other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Hash of the content.
    pub content: ContentDigest,
    /// Size of the content in bytes.
    pub size: u64,
    /// Settings of [`Key::new`].
    pub settings: String,
    /// Estimated packing time on one thread; not part of the key.
    pub effort: Duration,
}

impl Recipe {
    /// Key of the stream.
    pub fn key(&self) -> Key {
        Key::new(self.content, &self.settings)
    }
}
