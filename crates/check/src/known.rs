/// A fact, or the reason why a reader cannot know it. An unknown fact is never an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// The fact.
    Is(T),
    /// No fact.
    Unknown(Why),
}

/// Reason of an unknown fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The reader has names and sizes, but not the bytes.
    NoBytes,
    /// The format has no such fact: permissions of a zip made on Windows, symbols of a file that no
    /// host loads.
    NoFact,
    /// Only a manifest states it, and none names the package.
    NoManifest,
    /// The bytes that state it are damaged.
    Broken,
}

impl<T> Known<T> {
    /// The fact, if known.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Is(fact) => Some(fact),
            Self::Unknown(_) => None,
        }
    }
}
