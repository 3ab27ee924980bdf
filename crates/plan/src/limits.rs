use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Limits of a distribution's size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Installed bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed: Option<Limit>,
    /// Bytes of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Limit>,
    /// Percentage by which the installed bytes may grow in one change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Limit>,
}

/// A limit with its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Greatest value.
    pub most: u64,
    /// Line of the manifest.
    pub rule: Arc<str>,
}

impl Limits {
    /// No limit is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
