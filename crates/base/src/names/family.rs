//! Families and ISAs: GPUs that an artifact is built for.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NameError;

/// Third field of an artifact directory's name: `generic`, a family, or an ISA with optional
/// features (`gfx942:xnack+`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = "^[A-Za-z0-9:+-]+$")))]
pub struct Family(Arc<str>);

impl Family {
    /// Name in directory names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Family of target-neutral artifacts.
    pub fn generic() -> Self {
        Self("generic".into())
    }

    /// Returns true for target-neutral artifacts.
    pub fn is_generic(&self) -> bool {
        &*self.0 == "generic"
    }

    /// Name without features.
    pub fn base(&self) -> &str {
        without_features(&self.0)
    }

    /// First word, common to the ISAs and artifacts of a package.
    pub fn stem(&self) -> &str {
        stem(&self.0)
    }
}

/// Removes the features of a target (target IDs of LLVM's AMDGPU user guide): `gpu9:ecc+:try-`, in
/// file names `gpu9-try+`. Features end with `+` or `-`, so `gpu9-strict` stays.
pub fn without_features(text: &str) -> &str {
    let mut name = text.split(':').next().unwrap_or(text);
    while let Some(feature) = name.strip_suffix(['+', '-'])
        && let Some((before, _)) = feature.rsplit_once('-')
    {
        name = before;
    }
    name
}

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
                "use letters, digits and `-`; write `:` before each feature",
            ));
        }
        Ok(Self(text.into()))
    }
}

/// GPU instruction set without features: `gfx942`, or its kind `gfx942-strict`.
///
/// Sorted by length, then by bytes: `gfx906`, `gfx1100`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$")))]
pub struct Isa(Arc<str>);

impl Isa {
    /// Name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if `other` is this ISA followed by `-` and more.
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
                "use words of a-z and 0-9 with `-` between, without features (`:xnack+`)",
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
    fn sorts_isas_by_number() {
        let mut isas: Vec<Isa> =
            ["gfx1100", "gfx942", "gfx90a", "gfx906"].iter().map(|i| i.parse().unwrap()).collect();
        isas.sort();
        assert_eq!(
            isas.iter().map(Isa::as_str).collect::<Vec<_>>(),
            ["gfx906", "gfx90a", "gfx942", "gfx1100"]
        );
    }

    #[test]
    fn accepts_features_in_families_and_not_in_isas() {
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
    fn recognises_a_kind_of_an_isa_by_its_prefix() {
        let isa = |text: &str| text.parse::<Isa>().unwrap();
        assert!(isa("gfx1250").has_kind(&isa("gfx1250-strict")));
        assert!(!isa("gfx125").has_kind(&isa("gfx1250-strict")));
        assert!(!isa("gfx1250-strict").has_kind(&isa("gfx1250")));
        for bad in ["", "-", "gfx1-", "-gfx1", "gfx1--a", "gfx1_a", "GFX1"] {
            assert!(bad.parse::<Isa>().is_err(), "{bad}");
        }
    }
}
