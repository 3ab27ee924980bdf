//! Versions of a build for wheels, deb and rpm packages, without input or output. [`versions`]
//! spells a version for each kind of package; [`traps`] lists surprises of installers.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

mod base;
mod date;
mod kind;
#[cfg(test)]
mod tests;
mod traps;

pub use base::{Base, BaseError};
pub use date::{Date, DateError};
pub use kind::{Continuation, ReleaseType};
pub use traps::traps;

/// Parts of a version.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The released product, by the name of its selector.
    pub product: String,
    /// Content of `version.json`.
    pub base: Base,
    /// Kind of build.
    pub kind: Continuation,
    /// Day of the build, in UTC.
    pub date: Date,
    /// Commit in hexadecimal; only for development builds.
    pub sha: Option<String>,
}

/// A version, spelled for each kind of package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// Version of wheels and sdists (PEP 440).
    pub wheel: String,
    /// Version of deb packages.
    pub deb: String,
    /// Version of rpm packages.
    pub rpm: String,
    /// Version suffix for frameworks built against it.
    pub suffix: String,
}

/// Format number of [`Outputs`].
pub const OUTPUTS_FORMAT: u32 = 1;

/// Output of `rockpack help versions --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Outputs {
    /// Format number, [`OUTPUTS_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = OUTPUTS_FORMAT)))]
    pub format: u32,
    /// `PRODUCT_package_version`, `PRODUCT_deb_package_version`, `PRODUCT_rpm_package_version` and
    /// `version_suffix`.
    #[serde(flatten)]
    pub values: BTreeMap<String, String>,
}

impl Versions {
    /// Document for machines.
    pub fn document(&self, product: &str) -> Outputs {
        let values = self.outputs(product).map(|(name, value)| (name, value.to_owned()));
        Outputs { format: OUTPUTS_FORMAT, values: BTreeMap::from(values) }
    }

    /// Names and values for CI.
    pub fn outputs(&self, product: &str) -> [(String, &str); 4] {
        [
            (format!("{product}_package_version"), &self.wheel),
            (format!("{product}_deb_package_version"), &self.deb),
            (format!("{product}_rpm_package_version"), &self.rpm),
            ("version_suffix".to_owned(), &self.suffix),
        ]
    }
}

/// Reasons for a missing version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionsError {
    /// Missing start date in `version.json`.
    NoBaseDate(ReleaseType),
    /// A development build without a commit.
    NoSha(ReleaseType),
    /// The commit is not a hash.
    Sha(String),
}

impl fmt::Display for VersionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBaseDate(kind) => write!(
                f,
                "`release-metadata.base-date` is empty, but the version of a {kind} build \
                 contains this date"
            ),
            Self::NoSha(kind) => {
                write!(f, "the version of a {kind} build contains its commit, which is unknown")
            }
            Self::Sha(text) => write!(f, "`{text}` is not the hash of a commit"),
        }
    }
}

impl VersionsError {
    /// Remedy.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoBaseDate(_) => "write it in version.json, or give --base-date YYYYMMDD",
            Self::NoSha(_) => "give --sha HASH, or run in the checkout",
            Self::Sha(_) => "give 8 to 64 hexadecimal digits",
        }
    }
}

/// Spells the version of a build.
///
/// # Errors
///
/// Fails if the kind of build needs a date or a commit that is missing.
pub fn versions(inputs: &Inputs) -> Result<Versions, VersionsError> {
    let (base, date) = (&*inputs.base.version, inputs.date);
    let (wheel, deb, rpm) = match &inputs.kind {
        Continuation::Suffix(suffix) => {
            let all = format!("{base}{suffix}");
            (all.clone(), all.clone(), all)
        }
        Continuation::Prerelease(number) => (
            format!("{base}rc{number}"),
            format!("{base}~pre{number}"),
            format!("{base}~rc{number}"),
        ),
        Continuation::Type(ReleaseType::Release) => {
            (base.to_owned(), base.to_owned(), base.to_owned())
        }
        Continuation::Type(ReleaseType::Nightly) => {
            (format!("{base}a{date}"), format!("{base}~{date}"), format!("{base}~{date}"))
        }
        Continuation::Type(kind @ ReleaseType::NightlyBkc) => {
            let start = base_date(inputs, *kind)?;
            let package = format!("{base}~{start}.bkc.{date}");
            (format!("{base}a{start}+bkc.{date}"), package.clone(), package)
        }
        Continuation::Type(kind @ (ReleaseType::Ci | ReleaseType::Dev | ReleaseType::DevBkc)) => {
            if *kind == ReleaseType::DevBkc {
                base_date(inputs, *kind)?;
            }
            let sha = sha(inputs, *kind)?;
            let short = &sha[..8];
            (
                format!("{base}.dev0+{sha}"),
                format!("{base}~dev{date}"),
                format!("{base}~{date}g{short}"),
            )
        }
    };
    let suffix = suffix(&inputs.product, &wheel);
    Ok(Versions { wheel, deb, rpm, suffix })
}

/// Suffix for frameworks: a local segment, so `+` becomes `-`.
pub fn suffix(product: &str, wheel: &str) -> String {
    let normal = wheel.parse::<::base::version::Version>();
    let text = normal.map_or_else(|_| wheel.to_owned(), |version| version.to_string());
    let kind = if text.contains("dev") { "dev" } else { "" };
    format!("+{kind}{product}{}", text.replace('+', "-"))
}

fn base_date(inputs: &Inputs, kind: ReleaseType) -> Result<Date, VersionsError> {
    inputs.base.date.ok_or(VersionsError::NoBaseDate(kind))
}

fn sha(inputs: &Inputs, kind: ReleaseType) -> Result<String, VersionsError> {
    let text = inputs.sha.as_ref().ok_or(VersionsError::NoSha(kind))?;
    let is_hash = (8..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit());
    if is_hash { Ok(text.to_ascii_lowercase()) } else { Err(VersionsError::Sha(text.clone())) }
}
