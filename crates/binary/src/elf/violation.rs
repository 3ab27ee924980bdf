//! An invariant that does not hold.

use std::fmt;

/// An invariant that a file breaks, or that an edit broke.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Its number in the list of invariants (`I4`).
    pub invariant: &'static str,
    /// What breaks it.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.detail)
    }
}

/// Records `detail` when `holds` is false.
pub(super) fn check(
    found: &mut Vec<Violation>,
    invariant: &'static str,
    holds: bool,
    detail: impl FnOnce() -> String,
) {
    if !holds {
        found.push(Violation { invariant, detail: detail() });
    }
}
