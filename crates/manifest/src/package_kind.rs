use serde::Serialize;

/// Kind of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// An sdist that picks the others.
    Selector,
    /// A wheel with a platform directory.
    Runtime,
    /// A wheel with an archive of everything, expanded on first use.
    Devel,
    /// A wheel that requires the packages that a machine needs.
    Choice,
}

impl PackageKind {
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
