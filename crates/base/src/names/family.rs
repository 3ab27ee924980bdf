//! Families and ISAs: for which GPUs an artifact was built.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NameError;

/// The third field of an artifact directory's name: `generic`, a family or an ISA,
/// an ISA perhaps with features (`gfx942:xnack+`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = "^[A-Za-z0-9:+-]+$")))]
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

    /// The name without features, which do not make another ISA: see [`without_features`].
    pub fn base(&self) -> &str {
        without_features(&self.0)
    }

    /// The first word of the name. The ISAs of one package have it in common, and so do their
    /// artifacts, whatever stands behind it.
    pub fn stem(&self) -> &str {
        stem(&self.0)
    }
}

/// A target's name without its features (target IDs of LLVM's AMDGPU user guide): `gpu9:ecc+:try-`.
/// Files and artifacts that cannot have `:` in their names have `-` in its place: `gpu9-try+`.
///
/// Every feature ends with its switch, `+` or `-`, so that `gpu9-strict` is a name of its own.
pub fn without_features(text: &str) -> &str {
    let mut name = text.split(':').next().unwrap_or(text);
    while let Some(feature) = name.strip_suffix(['+', '-'])
        && let Some((before, _)) = feature.rsplit_once('-')
    {
        name = before;
    }
    name
}

/// What stands before the first `:` or `-` of a name.
fn stem(text: &str) -> &str {
    text.split([':', '-']).next().unwrap_or(text)
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

/// One GPU instruction set, without features: `gfx942`, or `gfx942-strict`, a kind of it that is
/// compiled by itself.
///
/// Sorts as people count: by the length of its name, then by its letters, so that
/// `gfx906` comes before `gfx1100`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$")))]
pub struct Isa(Arc<str>);

impl Isa {
    /// The ISA as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `other` is a kind of this one: its name is this one's, and more after `-`.
    pub fn has_kind(&self, other: &Self) -> bool {
        other.0.strip_prefix(&*self.0).is_some_and(|rest| rest.starts_with('-'))
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
        if !text.split('-').all(|word| !word.is_empty() && word.chars().all(fine)) {
            return Err(NameError::new(
                "an ISA",
                text,
                "use lower-case letters and digits, and `-` between; features (`:xnack+`) are not part of it",
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
        for (family, base, stem) in [
            ("gfx942-xnack+", "gfx942", "gfx942"),
            ("gfx90a:sramecc+:xnack-", "gfx90a", "gfx90a"),
            ("gfx90a-sramecc+-xnack-", "gfx90a", "gfx90a"),
            ("gfx1250-strict", "gfx1250-strict", "gfx1250"),
            ("gfx1250-strict-xnack-", "gfx1250-strict", "gfx1250"),
            ("gfx94X-dcgpu", "gfx94X-dcgpu", "gfx94X"),
            ("+", "+", "+"),
        ] {
            let family: Family = family.parse().unwrap();
            assert_eq!((family.base(), family.stem()), (base, stem));
        }
    }

    #[test]
    fn a_kind_of_an_isa_has_its_name_in_front() {
        let isa = |text: &str| text.parse::<Isa>().unwrap();
        assert!(isa("gfx1250").has_kind(&isa("gfx1250-strict")));
        assert!(!isa("gfx125").has_kind(&isa("gfx1250-strict")));
        assert!(!isa("gfx1250-strict").has_kind(&isa("gfx1250")));
        for bad in ["", "-", "gfx1-", "-gfx1", "gfx1--a", "gfx1_a", "GFX1"] {
            assert!(bad.parse::<Isa>().is_err(), "{bad}");
        }
    }
}
