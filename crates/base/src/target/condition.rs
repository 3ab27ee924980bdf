//! Where a line of the manifest counts.

use crate::names::{Mode, System};

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// How device code is split.
    pub mode: Mode,
    /// The operating system of those who install.
    pub system: System,
}

impl Target {
    /// Every mode on every system.
    pub const ALL: [Self; 4] = [
        Self { mode: Mode::Kpack, system: System::Linux },
        Self { mode: Mode::Kpack, system: System::Windows },
        Self { mode: Mode::Legacy, system: System::Linux },
        Self { mode: Mode::Legacy, system: System::Windows },
    ];
}

/// `mode="kpack" on="linux"`: a line counts in this mode and on this system only; without them, in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The mode.
    pub mode: Option<Mode>,
    /// The system.
    pub on: Option<System>,
}

impl Condition {
    /// Whether the line counts in a plan for `target`.
    pub fn holds(self, target: Target) -> bool {
        self.mode.is_none_or(|mode| mode == target.mode)
            && self.on.is_none_or(|system| system == target.system)
    }

    /// A target for which both lines count, if there is one.
    pub fn meets(self, other: Self) -> Option<Target> {
        Target::ALL.into_iter().find(|target| self.holds(*target) && other.holds(*target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_where_both_hold() {
        let condition = |mode, on| Condition { mode, on };
        let (kpack, linux) = (Some(Mode::Kpack), Some(System::Linux));
        let counts = |condition: Condition| Target::ALL.map(|target| condition.holds(target));
        assert_eq!(counts(condition(None, None)), [true; 4]);
        assert_eq!(counts(condition(kpack, None)), [true, true, false, false]);
        assert_eq!(counts(condition(kpack, linux)), [true, false, false, false]);
        let windows = condition(None, Some(System::Windows));
        assert_eq!(condition(kpack, linux).meets(windows), None);
        assert_eq!(condition(kpack, None).meets(windows), Some(Target::ALL[1]));
    }
}
