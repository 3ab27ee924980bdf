//! One of the distributions that a package is split into.

use super::{Per, Values};
use crate::names::Family;

/// What a distribution is made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// One distribution for all.
    None,
    /// For one value of a split: a family, an ISA, or a value of an axis.
    Of(Per, String),
}

impl Per {
    /// The variants that it makes, one a distribution.
    pub fn variants(&self, values: &dyn Values) -> Vec<Variant> {
        let values = match self {
            Self::None => return vec![Variant::None],
            Self::Family => values.families(),
            Self::Isa => values.isas(),
            Self::Axis(name) => values.axis(name),
        };
        values.into_iter().map(|value| Variant::Of(self.clone(), value)).collect()
    }

    /// The variant that belongs to a distribution of `variant`.
    #[must_use]
    pub fn beside(&self, variant: &Variant) -> Variant {
        if *self == Self::None { Variant::None } else { variant.clone() }
    }
}

impl Variant {
    /// The value as text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Of(_, value) => Some(value),
        }
    }

    /// What it is a value of.
    pub fn per(&self) -> &Per {
        match self {
            Self::None => &Per::None,
            Self::Of(per, _) => per,
        }
    }

    /// Whether a distribution of it can take an artifact that was built for this. `home` is the target
    /// whose packages have it: features do not make another one, and an ISA can be packaged with another.
    pub fn takes(&self, family: &Family, home: &str) -> bool {
        match self {
            Self::None => family.is_generic(),
            Self::Of(Per::Family, value) => family.is_generic() || home == value,
            Self::Of(_, value) => home == value,
        }
    }

    /// The text with its placeholder filled.
    pub fn fill(&self, text: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::Of(per, value) => {
                text.replace(&format!("{{{}}}", per.placeholder().unwrap_or_default()), value)
            }
        }
    }
}
