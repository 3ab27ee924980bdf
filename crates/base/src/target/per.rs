//! Splits of a package into distributions.

use std::fmt;
use std::sync::Arc;

/// `per="none|isa|family|AXIS"`: number of distributions, and the artifacts of each.
///
/// Only this type and [`super::Variant`] implement the meaning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Per {
    /// One distribution, from target-neutral artifacts.
    None,
    /// One per family, from its artifacts and target-neutral ones.
    Family,
    /// One per ISA, only from its artifacts.
    Isa,
    /// One per value of an axis of `families.kdl`, only from its artifacts.
    Axis(Arc<str>),
}

/// Values of splits.
pub trait Values {
    /// ISAs.
    fn isas(&self) -> Vec<String>;
    /// Families and ISAs.
    fn families(&self) -> Vec<String>;
    /// Values of an axis.
    fn axis(&self, name: &str) -> Vec<String>;
}

impl Per {
    /// Values of `per` other than axes.
    pub const WORDS: [&'static str; 3] = ["none", "family", "isa"];

    /// Parses `per`; an unknown word is an axis.
    pub fn parse(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "family" => Self::Family,
            "isa" => Self::Isa,
            axis => Self::Axis(axis.into()),
        }
    }

    /// Value of `per`.
    pub fn word(&self) -> &str {
        self.placeholder().unwrap_or("none")
    }

    /// Placeholder of names: `isa` for `{isa}`.
    pub fn placeholder(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Family => Some("family"),
            Self::Isa => Some("isa"),
            Self::Axis(name) => Some(name),
        }
    }

    /// Returns true if a machine can select its distribution by GPU.
    pub fn is_by_gpu(&self) -> bool {
        matches!(self, Self::Family | Self::Isa)
    }

    /// Returns true for an axis: the runtime cannot detect its value, so nothing selects its
    /// distribution automatically.
    pub fn is_by_axis(&self) -> bool {
        matches!(self, Self::Axis(_))
    }
}

/// Unit of a split for messages: `ISA`, `family`, or the axis. `none` has no unit, and no message
/// shows it.
impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None | Self::Isa => "ISA",
            Self::Family => "family",
            Self::Axis(name) => name,
        })
    }
}
