//! The contract of a package: everything that its users can rely on.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod page;
mod promised;
mod read;
mod saved;

pub use page::page;
pub use promised::promised;
pub use read::{contracts, of_contents};
pub use saved::{Saved, SavedError};

/// Format number of [`Contracts`] as JSON.
pub const CONTRACT_FORMAT: u32 = 1;

/// Contracts of a set of packages, serialized to the output of `rockpack plan --contract --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contracts {
    /// Format number, [`CONTRACT_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = CONTRACT_FORMAT)))]
    pub format: u32,
    /// Packages, in the order of the manifest.
    pub packages: Vec<Contract>,
}

/// Promises of one package. A field that its source cannot tell is `None`: unknown, not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Name of the distribution, with its directory.
    pub distribution: String,
    /// Mode and system that the manifest alone promises it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Python modules.
    pub imports: Option<BTreeSet<String>>,
    /// Commands.
    pub commands: BTreeMap<String, Command>,
    /// Short names for `find_libraries`.
    pub libraries: Option<BTreeMap<String, Leads>>,
    /// Library names without a version, by path.
    pub unversioned: BTreeMap<String, Form>,
    /// Requirements of each extra.
    pub extras: BTreeMap<String, BTreeSet<String>>,
    /// Requirements, with `{version}` for the version of the package.
    pub requirements: BTreeSet<String>,
    /// Python versions (`Requires-Python`).
    pub python: String,
    /// Platform tags.
    pub platforms: Option<BTreeSet<String>>,
    /// GPUs with device code.
    pub gpus: Option<BTreeSet<String>>,
    /// Licence expression.
    pub license: Option<String>,
    /// Licence texts.
    pub license_texts: Option<BTreeSet<String>>,
    /// First directories of variables, for the programs of the commands.
    pub environment: Option<BTreeMap<String, BTreeSet<String>>>,
    /// Directories that join the search path of Python.
    pub python_path: BTreeSet<String>,
    /// Links in the expanded devel tree.
    pub keep_links: Option<BTreeSet<String>>,
    /// Headers, by directory.
    pub headers: Option<BTreeMap<String, usize>>,
    /// Links of the devel archive, by directory.
    pub links: Option<BTreeMap<String, usize>>,
}

/// Target of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Program below the platform directory, or function of the module.
    pub starts: String,
    /// The command expands the devel tree; `None` in packages of other makers.
    pub expands_devel: Option<bool>,
}

/// File patterns of a short name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Leads {
    /// Pattern on Linux.
    pub linux: Option<String>,
    /// Pattern on Windows.
    pub windows: Option<String>,
    /// Names of matching files without versions; `None` without files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeSet<String>>,
}

/// Form of a library name without a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The library itself: it can be preloaded.
    File,
    /// A library without code that needs the real one.
    Forward,
    /// A link.
    Link,
}
