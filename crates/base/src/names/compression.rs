//! How hard wheels are compressed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::NameError;

/// How the members of wheels are compressed: between the time of a build and the size of what people download.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all.
    Store,
    /// As fast as is of use.
    Fast,
    /// No larger than what zlib makes at its own default.
    #[default]
    Default,
    /// As small as deflate goes.
    Max,
}

impl Compression {
    /// All of them, from the fastest to the smallest.
    pub const ALL: [Self; 4] = [Self::Store, Self::Fast, Self::Default, Self::Max];

    /// The level as manifests and the command line spell it.
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
        let known = Self::ALL.into_iter().find(|level| level.as_str() == text);
        known.ok_or_else(|| {
            NameError::new(
                "a level of compression",
                text,
                "levels are store, fast, default and max",
            )
        })
    }
}
