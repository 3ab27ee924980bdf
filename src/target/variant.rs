//! One of the distributions that a package is split into.

/// The target that a distribution is made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// One distribution for all.
    None,
    /// For one family (its name).
    Family(String),
    /// For one ISA (its name).
    Isa(String),
}

impl Variant {
    /// The family or ISA as text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Family(name) | Self::Isa(name) => Some(name),
        }
    }
}
