//! What a distribution comes as.

use serde::{Deserialize, Serialize};

/// What a distribution comes as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A wheel (PEP 427).
    Wheel,
    /// A source distribution (PEP 625).
    Sdist,
}

impl Form {
    /// What a file is by its name. PEP 625 knows no other ending for sdists.
    #[expect(
        clippy::case_sensitive_file_extension_comparisons,
        reason = "so are they to installers"
    )]
    pub fn of_file(name: &str) -> Option<Self> {
        let sdist = || name.ends_with(".tar.gz").then_some(Self::Sdist);
        if name.ends_with(".whl") { Some(Self::Wheel) } else { sdist() }
    }
}
