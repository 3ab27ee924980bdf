use std::fmt;

use super::{Distribution, Limit};
use base::text::human_size;

/// A size above its limit.
#[derive(Debug, Clone)]
pub struct Excess<'d> {
    /// Distribution.
    pub distribution: &'d Distribution,
    /// Limit.
    pub limit: &'d Limit,
    /// Bytes.
    pub bytes: u64,
    measure: &'static str,
}

impl Distribution {
    /// Excess of the installed bytes.
    pub fn installs_too_much(&self) -> Option<Excess<'_>> {
        self.excess(self.limits.installed.as_ref()?, self.size(), "installed")
    }

    /// Excess of a file with so many bytes.
    pub fn is_too_large(&self, packed: u64) -> Option<Excess<'_>> {
        self.excess(self.limits.packed.as_ref()?, packed, "packed")
    }

    fn excess<'d>(
        &'d self,
        limit: &'d Limit,
        bytes: u64,
        measure: &'static str,
    ) -> Option<Excess<'d>> {
        let excess = Excess { distribution: self, limit, bytes, measure };
        (bytes > limit.most).then_some(excess)
    }
}

impl fmt::Display for Excess<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distribution, limit, bytes, measure } = self;
        let (bytes, most) = (human_size(*bytes), human_size(limit.most));
        write!(f, "`{}` has {bytes} {measure}, but {} allows {most}", distribution.name, limit.rule)
    }
}
