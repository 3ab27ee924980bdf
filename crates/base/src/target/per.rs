//! How artifacts become distributions.

use std::fmt;
use std::sync::Arc;

/// `per="none|isa|family|AXIS"`: of which artifacts a distribution is made, and how many there are.
///
/// What a split means is decided here and in [`super::Variant`] alone: the others ask for values,
/// placeholders and words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Per {
    /// One distribution, of the artifacts for no particular target.
    None,
    /// One for each family, of its artifacts and those for no particular target.
    Family,
    /// One for each ISA, of its artifacts alone.
    Isa,
    /// One for each value of an axis of `families.kdl`, of its artifacts alone.
    Axis(Arc<str>),
}

/// The values that splits range over.
pub trait Values {
    /// ISAs.
    fn isas(&self) -> Vec<String>;
    /// Families, ISAs among them.
    fn families(&self) -> Vec<String>;
    /// The values of an axis.
    fn axis(&self, name: &str) -> Vec<String>;
}

impl Per {
    /// The splits that every manifest knows, in the words of `per`.
    pub const WORDS: [&'static str; 3] = ["none", "family", "isa"];

    /// The split of this word; any other word names an axis.
    pub fn named(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "family" => Self::Family,
            "isa" => Self::Isa,
            axis => Self::Axis(axis.into()),
        }
    }

    /// The word for it.
    pub fn word(&self) -> &str {
        self.placeholder().unwrap_or("none")
    }

    /// The placeholder that it fills in names: `isa` of `{isa}`.
    pub fn placeholder(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Family => Some("family"),
            Self::Isa => Some("isa"),
            Self::Axis(name) => Some(name),
        }
    }

    /// Whether it is by GPU, so that a machine can tell which distribution it needs.
    pub fn is_by_gpu(&self) -> bool {
        matches!(self, Self::Family | Self::Isa)
    }

    /// Whether it is by something that no machine tells.
    pub fn is_by_axis(&self) -> bool {
        matches!(self, Self::Axis(_))
    }
}

/// What there is one distribution for: `ISA`, `family`, or the name of the axis.
impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None | Self::Isa => "ISA",
            Self::Family => "family",
            Self::Axis(name) => name,
        })
    }
}
