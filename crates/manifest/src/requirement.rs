//! Requirements and pins as spelled.

use std::fmt;
use std::str::FromStr;

use crate::reader::Reason;
use base::names;
use base::version::Version;

/// A requirement (PEP 508), as spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement(String);

/// One version of a distribution: `NAME==VERSION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin(String);

/// Invalid requirement or pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}: {reason}")]
pub struct RequirementError {
    pub text: String,
    /// Expected kind, with its article.
    pub kind: &'static str,
    /// Fault.
    pub reason: &'static str,
}

impl Requirement {
    /// Returns the requirement as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pin {
    /// Returns the pin as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the distribution's name.
    pub fn name(&self) -> &str {
        self.0.split("==").next().unwrap_or_default()
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        if text.parse::<names::Requirement>().is_ok() {
            return Ok(Self(text.to_owned()));
        }
        let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let reason = if starts {
            "write it like `numpy>=2` or `numpy>=2; python_version < '3.13'`"
        } else {
            "begin with the name of a distribution"
        };
        Err(RequirementError { text: text.to_owned(), kind: "a requirement (PEP 508)", reason })
    }
}

impl FromStr for Pin {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let fine = text.split_once("==").is_some_and(|(name, version)| {
            name.parse::<names::DistName>().is_ok() && version.parse::<Version>().is_ok()
        });
        if fine {
            return Ok(Self(text.to_owned()));
        }
        let reason = "write `NAME==VERSION`";
        Err(RequirementError {
            text: text.to_owned(),
            kind: "one version of a distribution",
            reason,
        })
    }
}

impl Reason for RequirementError {
    fn message(&self) -> String {
        format!("`{}` is not {}", self.text, self.kind)
    }

    fn label(&self) -> String {
        self.reason.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requires_one_version_of_a_pin() {
        assert_eq!("numpy==2.1.0".parse::<Pin>().unwrap().name(), "numpy");
        for bad in ["numpy", "numpy>=2", "==2", "numpy==two"] {
            assert!(bad.parse::<Pin>().is_err(), "{bad}");
        }
        assert!(
            "cython>=3; python_version > '3'".parse::<Requirement>().is_ok()
                && "--pre x".parse::<Requirement>().is_err()
        );
    }
}
