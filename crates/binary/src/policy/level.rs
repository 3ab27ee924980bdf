//! How old a system may be: a platform tag without its architecture.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::table::release;
use super::{Libc, Policy, StubMachine, policies};

/// A C library and its release: what `manylinux_2_28` and its like name (PEP 600, PEP 656).
///
/// A release that no policy is of may be meant: it is judged by the next policy, and glibc's own
/// symbol versions by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level {
    /// The C library.
    pub libc: Libc,
    /// Its release.
    pub release: (u32, u32),
}

/// A text that names no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no manylinux or musllinux tag without an architecture")]
pub struct LevelError(pub String);

/// The names that came before PEP 600 (PEP 513, 571 and 599).
const LEGACY: [(&str, (u32, u32)); 3] =
    [("manylinux1", (2, 5)), ("manylinux2010", (2, 12)), ("manylinux2014", (2, 17))];

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        if let Some((_, release)) = LEGACY.iter().find(|(name, _)| *name == text) {
            return Ok(Self { libc: Libc::Glibc, release: *release });
        }
        let libc = [Libc::Glibc, Libc::Musl]
            .into_iter()
            .find(|libc| text.split('_').next() == Some(libc.prefix()));
        match (libc, release(text)) {
            (Some(libc), Some(release)) => Ok(Self { libc, release }),
            _ => Err(LevelError(text.to_owned())),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}", self.libc.prefix(), self.release.0, self.release.1)
    }
}

/// Of one C library, the older release is the smaller one; others do not compare.
impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.libc == other.libc).then(|| self.release.cmp(&other.release))
    }
}

/// A level as it judges the files of one architecture.
pub(super) struct Measure {
    level: Level,
    /// The policy of that release, else the next one, else the last.
    policy: &'static Policy,
}

impl Level {
    pub(super) fn measure(self, machine: StubMachine) -> Option<Measure> {
        let all = policies(machine, self.libc);
        let policy = all.iter().find(|policy| policy.release >= self.release).or(all.last())?;
        Some(Measure { level: self, policy })
    }
}

impl Measure {
    pub fn has_version(&self, version: &str) -> bool {
        if self.policy.release == self.level.release || self.level.libc == Libc::Musl {
            return self.policy.has_version(version);
        }
        match version.strip_prefix("GLIBC_").map(numbers) {
            Some(Some(release)) => release <= self.level.release,
            // What comes after the newest policy is not known to lack anything but glibc's own.
            _ => self.policy.has_version(version) || self.policy.release < self.level.release,
        }
    }

    pub fn has_library(&self, name: &str) -> bool {
        self.policy.has_library(name)
    }

    pub fn forbids(&self, library: &str, symbol: &str) -> bool {
        self.policy.forbids(library, symbol)
    }
}

/// `(2, 17)` of `2.17` and of `2.17.1`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
