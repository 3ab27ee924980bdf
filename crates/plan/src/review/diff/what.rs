//! What can be different about a file.

use serde::Serialize;

/// One kind of difference. Files of a package that differ by the same are told in one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// The new side alone has it.
    Appeared {
        /// Why the old side left it out, where that is known.
        was: Option<String>,
    },
    /// The old side alone has it.
    Vanished {
        /// Why the new side leaves it out, where that is known.
        now: Option<String>,
    },
    /// It comes about in another way.
    Step {
        /// The step's name, `file` for what was built, `link` or `directory`.
        old: &'static str,
        /// The same of the new side.
        new: &'static str,
    },
    /// It is made of another file.
    Source {
        /// The artifact, and its path where the installed path does not say it.
        old: String,
        /// The same of the new side.
        new: String,
    },
    /// It looks for libraries elsewhere. Directories are below site-packages, where they are relative to the file.
    Rpath {
        /// Directories that are not searched any more.
        removed: Vec<String>,
        /// Directories that are searched now.
        added: Vec<String>,
        /// Directories that changed places, each with the one that it is searched before now.
        order: Vec<String>,
    },
    /// A stub starts another program, a link leads elsewhere: with what both have in common at the end left out.
    Target {
        /// Below the package's platform directory, or below site-packages.
        old: String,
        /// The same of the new side.
        new: String,
    },
    /// A forwarding library stands for another.
    Alias {
        /// SONAME, the other's SONAME and where it is.
        old: String,
        /// The same of the new side.
        new: String,
    },
    /// A stub or forwarding library is for another machine.
    Machine {
        /// The machine.
        old: &'static str,
        /// The same of the new side.
        new: &'static str,
    },
    /// It may be executed, or may not any more.
    Executable {
        /// What holds now.
        now: bool,
    },
    /// Its source has another size.
    Size,
    /// A text that is made for the package reads differently.
    Text,
    /// The bytes are not those that are expected.
    Content,
    /// It is left out of the new side, and was not in the old one.
    LeftOut {
        /// Why.
        reason: String,
    },
    /// It was left out of the old side, and is not even selected now.
    NotLeftOut {
        /// Why it was.
        reason: String,
    },
    /// It is left out for another reason.
    LeftOutOtherwise {
        /// Why it was.
        old: String,
        /// Why it is.
        new: String,
    },
}
