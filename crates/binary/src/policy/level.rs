//! Minimum system version: a platform tag without its architecture.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use base::names::LibcTag;

use super::{Architecture, Libc, Policy, policies};

/// C library and release, written like `manylinux_2_28` (PEP 600, PEP 656).
///
/// For a release without a policy, that of the next release applies, or the newest; glibc's own
/// symbol versions are compared by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level {
    /// C library.
    pub libc: Libc,
    /// Release of the C library.
    pub release: (u32, u32),
}

/// Invalid level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a manylinux or musllinux tag without an architecture")]
pub struct LevelError(pub String);

impl From<LibcTag<'_>> for Level {
    fn from(tag: LibcTag<'_>) -> Self {
        let libc = if tag.is_musl { Libc::Musl } else { Libc::Glibc };
        Self { libc, release: tag.release }
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        let tag = LibcTag::of(text).filter(|tag| tag.architecture.is_none());
        tag.map(Self::from).ok_or_else(|| LevelError(text.to_owned()))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}", self.libc.prefix(), self.release.0, self.release.1)
    }
}

/// Older releases are smaller; levels of different C libraries are incomparable.
impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.libc == other.libc).then(|| self.release.cmp(&other.release))
    }
}

pub(super) struct Measure {
    level: Level,
    /// Policy of the release, or of the next one, or the newest.
    policy: &'static Policy,
}

impl Level {
    pub(super) fn measure(self, architecture: Architecture) -> Option<Measure> {
        let policies = policies(architecture, self.libc);
        let policy =
            policies.iter().find(|policy| policy.release >= self.release).or(policies.last())?;
        Some(Measure { level: self, policy })
    }
}

impl Measure {
    pub(crate) fn has_version(&self, version: &str) -> bool {
        if self.policy.release == self.level.release || self.level.libc == Libc::Musl {
            return self.policy.has_version(version);
        }
        match version.strip_prefix("GLIBC_").map(numbers) {
            Some(Some(release)) => release <= self.level.release,
            // A release newer than all policies can have newer versions of other libraries.
            _ => self.policy.has_version(version) || self.policy.release < self.level.release,
        }
    }

    pub(crate) fn has_library(&self, name: &str) -> bool {
        self.policy.has_library(name)
    }

    pub fn forbids(&self, library: &str, symbol: &str) -> bool {
        self.policy.forbids(library, symbol)
    }
}

/// `(2, 17)` of `2.17` or `2.17.1`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
