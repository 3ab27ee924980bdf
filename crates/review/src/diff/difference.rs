use serde::Serialize;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Difference {
    /// Added.
    Appeared {
        /// Reason why it was absent, if known.
        was: Option<String>,
    },
    /// Removed.
    Vanished {
        /// Reason why it is absent, if known.
        now: Option<String>,
    },
    /// Made by another step.
    Step {
        /// Old step; `file` for finished files, `link` or `directory`.
        old: &'static str,
        /// New step.
        new: &'static str,
    },
    /// Made from another file.
    Source {
        /// Old artifact, with the path if it differs.
        old: String,
        /// New artifact, likewise.
        new: String,
    },
    /// Changed search path. Relative entries are shown relative to site-packages.
    Rpath {
        /// Directories that are no longer searched.
        removed: Vec<String>,
        /// Directories that are newly searched.
        added: Vec<String>,
        /// Reordered directories, each with the directory after it.
        order: Vec<String>,
    },
    /// Changed target of a stub or link, without common last segments.
    Target {
        /// Old target, relative to the platform directory or site-packages.
        old: String,
        /// New target, likewise.
        new: String,
    },
    /// Changed forwarding library.
    Alias {
        /// Old SONAME, needed SONAME and directory.
        old: String,
        /// New values, likewise.
        new: String,
    },
    /// Changed machine of a stub or forwarding library.
    Machine {
        /// Old machine.
        old: &'static str,
        /// New machine.
        new: &'static str,
    },
    /// Changed execute bit.
    Executable {
        /// New value.
        now: bool,
    },
    /// Changed request for an executable stack.
    Stack {
        /// The request is removed now, and was kept.
        cleared: bool,
    },
    /// Changed size of the source.
    Size,
    /// Changed generated text.
    Text,
    /// Unexpected bytes.
    Content,
    /// Newly absent.
    Absent {
        /// Reason.
        reason: String,
    },
    /// No longer selected; it was absent.
    WasAbsent {
        /// Old reason.
        reason: String,
    },
    /// Absent for another reason.
    AbsentOtherwise {
        /// Old reason.
        old: String,
        /// New reason.
        new: String,
    },
}
