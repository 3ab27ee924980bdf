//! A file of a distribution, and how it comes about.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::Origin;
use base::names::RelPath;
use binary::elf::stub::StubMachine;

/// One file of an archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Member {
    /// Where it goes.
    pub path: RelPath,
    /// How it comes about.
    #[serde(flatten)]
    pub step: Step,
    /// Whether it may be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// Installed bytes; of what is edited, those of its source.
    pub size: u64,
    /// The rule that placed it: `packages.kdl:12`, or `rockpack` for what every package has.
    pub rule: Arc<str>,
}

/// How a file comes about. Data only; the executor matches all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "lowercase")]
pub enum Step {
    /// The source's bytes.
    Copy {
        /// Whose bytes.
        source: Origin,
    },
    /// The source's bytes with this `DT_RPATH` and no `DT_RUNPATH`.
    Relink {
        /// Whose bytes.
        source: Origin,
        /// The whole new value, entries with `:` between.
        rpath: String,
    },
    /// A program that starts another relative to its own place.
    Stub {
        /// The other, relative to the stub's directory.
        target: String,
        /// What it runs on.
        machine: StubMachine,
    },
    /// A library without code of its own that needs another.
    Alias {
        /// Its SONAME.
        soname: String,
        /// The SONAME of the other.
        needed: String,
        /// Where the other is, as a `DT_RPATH`.
        rpath: String,
        /// What it is for.
        machine: StubMachine,
    },
    /// A symbolic link (in archives that can hold one).
    Link {
        /// The link's text.
        target: String,
    },
    /// An empty place to put files in (in archives that can hold one).
    Directory,
    /// Text that the plan made.
    Render {
        /// The text.
        text: String,
    },
}

/// The archive of a devel wheel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Archive {
    /// Where it is in the wheel.
    pub path: RelPath,
    /// The preset of xz that it is compressed with, 0 to 6; a plain tar without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xz: Option<u8>,
    /// Its members, sorted so that no link comes before what it leads to.
    pub members: Vec<Member>,
}

impl Step {
    /// The file whose bytes it takes, if any.
    pub fn source(&self) -> Option<&Origin> {
        match self {
            Self::Copy { source } | Self::Relink { source, .. } => Some(source),
            Self::Stub { .. }
            | Self::Alias { .. }
            | Self::Link { .. }
            | Self::Directory
            | Self::Render { .. } => None,
        }
    }

    /// The step's name as plans show it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Copy { .. } => "copy",
            Self::Relink { .. } => "relink",
            Self::Stub { .. } => "stub",
            Self::Alias { .. } => "alias",
            Self::Link { .. } => "link",
            Self::Directory => "directory",
            Self::Render { .. } => "render",
        }
    }
}
