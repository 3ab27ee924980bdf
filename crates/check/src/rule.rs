use base::source::Code;

use crate::{Finding, Set};

/// Rule over a set.
#[derive(Debug)]
pub struct Rule {
    /// Name, for tables.
    pub name: &'static str,
    /// Codes of its findings.
    pub codes: &'static [Code],
    /// Facts without which it finds nothing.
    pub asks: &'static [Fact],
    /// Judgement. An unknown fact gives no finding.
    pub run: fn(&Set<'_>) -> Vec<Finding>,
}

/// Kind of a fact that a reader knows or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Installed paths.
    Paths,
    /// Permissions.
    Modes,
    /// Kind of each file by its bytes.
    Content,
    /// Headers of binaries.
    Binaries,
    /// Symbols of binaries.
    Symbols,
    /// Device code in the content.
    DeviceCode,
    /// Tags of wheels.
    Tags,
    /// Names, versions, extras and requirements.
    Requirements,
    /// All other packages of the set.
    Others,
    /// ISA or family of each package.
    Targets,
}
