use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Distribution;
use base::text::human_size;

/// Limits of a distribution's size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
pub struct Limit {
    /// Greatest value.
    pub most: u64,
    /// Line of the manifest.
    pub rule: Arc<str>,
}

/// A size above its limit.
#[derive(Debug, Clone)]
pub struct Excess<'d> {
    /// Distribution.
    pub distribution: &'d Distribution,
    /// Limit.
    pub limit: &'d Limit,
    /// Bytes.
    pub bytes: u64,
    measure: &'static str,
}

impl Limits {
    /// No limit is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Distribution {
    /// Excess of the installed bytes.
    pub fn installs_too_much(&self) -> Option<Excess<'_>> {
        self.excess(self.limits.installed.as_ref()?, self.size(), "installed")
    }

    /// Excess of a file with so many bytes.
    pub fn is_too_large(&self, packed: u64) -> Option<Excess<'_>> {
        self.excess(self.limits.packed.as_ref()?, packed, "packed")
    }

    fn excess<'d>(
        &'d self,
        limit: &'d Limit,
        bytes: u64,
        measure: &'static str,
    ) -> Option<Excess<'d>> {
        let excess = Excess { distribution: self, limit, bytes, measure };
        (bytes > limit.most).then_some(excess)
    }
}

impl fmt::Display for Excess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distribution, limit, bytes, measure } = self;
        let (bytes, most) = (human_size(*bytes), human_size(limit.most));
        write!(f, "`{}` has {bytes} {measure}, but {} allows {most}", distribution.name, limit.rule)
    }
}
