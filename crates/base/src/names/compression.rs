//! Compression levels of wheels.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::NameError;

/// Compression of wheel members.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// No compression.
    Store,
    /// Fastest useful level.
    Fast,
    /// At most the size of zlib's default level.
    #[default]
    Default,
    /// Smallest deflate output.
    Max,
}

impl Compression {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::Store, Self::Fast, Self::Default, Self::Max];

    /// Name in manifests and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Compression {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let level = Self::ALL.into_iter().find(|level| level.as_str() == text);
        level.ok_or_else(|| {
            NameError::new(
                "a level of compression",
                text,
                "the levels are store, fast, default and max",
            )
        })
    }
}
