//! Families and ISAs: for which GPUs an artifact was built.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NameError;

/// The third field of an artifact directory's name: `generic`, a family or an ISA,
/// an ISA perhaps with features (`gfx942:xnack+`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = "^[A-Za-z0-9:+-]+$")))]
pub struct Family(Arc<str>);

impl Family {
    /// The family as it stands in directory names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The family of everything that runs on any GPU.
    pub fn generic() -> Self {
        Self("generic".into())
    }

    /// Whether it is target-neutral.
    pub fn is_generic(&self) -> bool {
        &*self.0 == "generic"
    }

    /// The part before `:`; ISA features do not make another ISA.
    pub fn base(&self) -> &str {
        self.0.split(':').next().unwrap_or(&self.0)
    }
}

impl FromStr for Family {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '+');
        if text.is_empty() || !text.chars().all(fine) {
            return Err(NameError::new(
                "a family",
                text,
                "use letters, digits, `-`, and `:` before features",
            ));
        }
        Ok(Self(text.into()))
    }
}

/// One GPU instruction set, without features: `gfx942`.
///
/// Sorts as people count: by the length of its name, then by its letters, so that
/// `gfx906` comes before `gfx1100`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = "^[a-z0-9]+$")))]
pub struct Isa(Arc<str>);

impl Isa {
    /// The ISA as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Ord for Isa {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Isa {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl FromStr for Isa {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if text.is_empty() || !text.chars().all(fine) {
            return Err(NameError::new(
                "an ISA",
                text,
                "use lower-case letters and digits; features (`:xnack+`) are not part of it",
            ));
        }
        Ok(Self(text.into()))
    }
}

text_conversions!(Family, NameError);
text_conversions!(Isa, NameError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isas_sort_as_people_count() {
        let mut isas: Vec<Isa> =
            ["gfx1100", "gfx942", "gfx90a", "gfx906"].iter().map(|i| i.parse().unwrap()).collect();
        isas.sort();
        assert_eq!(
            isas.iter().map(Isa::as_str).collect::<Vec<_>>(),
            ["gfx906", "gfx90a", "gfx942", "gfx1100"]
        );
    }

    #[test]
    fn features_belong_to_a_family_not_to_an_isa() {
        assert_eq!("gfx942:xnack+".parse::<Family>().unwrap().base(), "gfx942");
        assert!("gfx942:xnack+".parse::<Isa>().is_err());
    }
}
