use std::fmt;

/// Invariant that a file or an edit violates.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Number of the invariant (`I4`).
    pub invariant: &'static str,
    /// Description of the violation.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.detail)
    }
}

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
