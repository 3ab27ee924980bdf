use serde::{Deserialize, Serialize};

/// Package format of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Wheel (PEP 427).
    Wheel,
    /// Source distribution (PEP 625).
    Sdist,
}

impl Form {
    /// Detects the format by file name. PEP 625 allows only `.tar.gz` for sdists.
    #[expect(
        clippy::case_sensitive_file_extension_comparisons,
        reason = "so are they to installers"
    )]
    pub fn of_file(name: &str) -> Option<Self> {
        let sdist = || name.ends_with(".tar.gz").then_some(Self::Sdist);
        if name.ends_with(".whl") { Some(Self::Wheel) } else { sdist() }
    }
}
