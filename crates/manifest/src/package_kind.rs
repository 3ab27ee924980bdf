//! Kind of a package.

use serde::Serialize;

/// Kind of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// An sdist that picks the others (`kind="selector"`).
    Selector,
    /// A wheel with a platform directory (`kind="runtime"`).
    Runtime,
    /// A wheel with an archive of everything, expanded on first use (`kind="devel"`).
    Devel,
    /// A wheel without files of artifacts, which requires the packages that a machine needs (`kind="choice"`).
    Choice,
}

impl PackageKind {
    /// Every kind.
    pub(crate) const ALL: &[Self] = &[Self::Selector, Self::Runtime, Self::Devel, Self::Choice];

    /// Returns the kind as manifests spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Selector => "selector",
            Self::Runtime => "runtime",
            Self::Devel => "devel",
            Self::Choice => "choice",
        }
    }
}
