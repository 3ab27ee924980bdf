//! How artifacts become distributions.

/// `per="none|isa|family"`: of which artifacts a distribution is made, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One distribution, of the artifacts for no particular GPU.
    None,
    /// One for each family, of its artifacts and those for no particular GPU.
    Family,
    /// One for each ISA, of its artifacts alone.
    Isa,
}

impl Per {
    /// The placeholder that it fills in names: `isa` of `{isa}`.
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Family => Some("family"),
            Self::Isa => Some("isa"),
        }
    }
}
