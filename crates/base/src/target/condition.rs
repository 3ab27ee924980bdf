//! Conditions of manifest lines.

use crate::names::{Mode, System};

/// Mode and system of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Method to split device code.
    pub mode: Mode,
    /// Operating system of the users.
    pub system: System,
}

impl Target {
    /// All combinations of mode and system.
    pub const ALL: [Self; 4] = [
        Self { mode: Mode::Kpack, system: System::Linux },
        Self { mode: Mode::Kpack, system: System::Windows },
        Self { mode: Mode::Legacy, system: System::Linux },
        Self { mode: Mode::Legacy, system: System::Windows },
    ];
}

/// `mode="kpack" on="linux"`: a missing part is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Condition {
    /// Required mode.
    pub mode: Option<Mode>,
    /// Required system.
    pub on: Option<System>,
}

impl Condition {
    /// Returns whether the line applies to `target`.
    pub fn holds(self, target: Target) -> bool {
        self.mode.is_none_or(|mode| mode == target.mode)
            && self.on.is_none_or(|system| system == target.system)
    }

    /// Returns a target to which both lines apply.
    pub fn meets(self, other: Self) -> Option<Target> {
        Target::ALL.into_iter().find(|target| self.holds(*target) && other.holds(*target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applies_a_line_if_mode_and_system_match() {
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
