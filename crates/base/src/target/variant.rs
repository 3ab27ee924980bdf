//! Variant of a package: one distribution of a split.

use super::{Per, Values};
use crate::names::Family;

/// Variant of a distribution.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Distribution for all targets.
    None,
    /// Distribution for a family, an ISA, or a value of an axis.
    Of(Per, String),
}

impl Per {
    /// Variants of a split, one per distribution.
    pub fn variants(&self, values: &dyn Values) -> Vec<Variant> {
        let values = match self {
            Self::None => return vec![Variant::None],
            Self::Family => values.families(),
            Self::Isa => values.isas(),
            Self::Axis(name) => values.axis(name),
        };
        values.into_iter().map(|value| Variant::Of(self.clone(), value)).collect()
    }

    /// Variant of a package of this split that is installed with a distribution of `variant`.
    #[must_use]
    pub fn installed_with(&self, variant: &Variant) -> Variant {
        if *self == Self::None { Variant::None } else { variant.clone() }
    }
}

impl Variant {
    /// Value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Of(_, value) => Some(value),
        }
    }

    /// Split.
    pub fn per(&self) -> &Per {
        match self {
            Self::None => &Per::None,
            Self::Of(per, _) => per,
        }
    }

    /// Returns true if the distribution accepts an artifact for `family`. `home` is the target
    /// whose packages have code for `family`: the ISA without features, or another declared one.
    pub fn takes(&self, family: &Family, home: &str) -> bool {
        match self {
            Self::None => family.is_generic(),
            Self::Of(Per::Family, value) => family.is_generic() || home == value,
            Self::Of(_, value) => home == value,
        }
    }

    /// Replaces the placeholder in a text.
    pub fn fill(&self, text: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::Of(per, value) => {
                text.replace(&format!("{{{}}}", per.placeholder().unwrap_or_default()), value)
            }
        }
    }
}
