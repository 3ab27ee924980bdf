use std::fmt;

/// Violated invariant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Its number (`I4`), as in the list of docs/elf.md.
    pub invariant: &'static str,
    /// Description.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.detail)
    }
}

pub(super) fn check(
    violations: &mut Vec<Violation>,
    invariant: &'static str,
    holds: bool,
    detail: impl FnOnce() -> String,
) {
    if !holds {
        violations.push(Violation { invariant, detail: detail() });
    }
}
