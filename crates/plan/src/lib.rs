//! What will be made: every file of every package, with its source, its step and its rule.
//!
//! Types alone, and how they are written and read: [`crate::resolve`] decides what stands in them,
//! [`crate::review`] shows and compares them, [`build::execute`] carries them out.
//!
//! Takes a manifest and a catalog of artifacts; returns a plan, and texts, pages and differences of plans. Only the scan
//! of `catalog` reads a file; nothing but `demo` writes one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::Origin;
use base::names::{Mode, RelPath};
use base::version::Version;

pub mod catalog;
pub mod demo;
mod digest;
mod distribution;
mod member;
mod note;
mod only;
mod read;
mod request;
pub mod resolve;
pub mod review;
mod source_build;
mod title;

pub use base::names::Form;
pub use digest::digest;
pub use distribution::{Absent, Distribution, WheelVariant};
pub use member::{Archive, Member, Step};
pub use note::{Labelled, Note, Warning};
pub use only::{OnlyName, OnlyNameError};
pub use read::PlanReadError;
pub use request::Request;
pub use source_build::{
    DevelTree, NativeBuild, PrefetchedWheel, ProjectBuild, RunCommand, RunScript, Sources,
    TakenWheel, Trial,
};
pub use title::{named, title};
pub use wheel::archive::metadata::{Description, Metadata};
pub use wheel::archive::variants::{NULL, Provider, Variants};

/// The number of the plan's own format, which its schema is published for.
///
/// It grows with the first change after a release that a reader of the number before would
/// stumble over: a field or a step that comes, goes or gets another name, another type or another
/// meaning. A field that comes counts too, since the schema is closed. The schema of each number
/// stays in `schema/`. Other words in a note or a reason don't count, nor does another plan of
/// equal inputs.
pub const FORMAT: u32 = 1;

/// The runtime's Python sources by template name: path below the template, and text.
pub type Templates = BTreeMap<String, Vec<(RelPath, String)>>;

/// Everything a build makes: what `rockpack plan --json` prints and `rockpack build` carries out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The number of this format. Readers refuse a plan of another.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// How device code is split.
    pub mode: Mode,
    /// The version of every package.
    pub version: Version,
    /// The platform tag of every wheel.
    pub platform_tag: String,
    /// What is made, in the order of the manifest.
    pub distributions: Vec<Distribution>,
    /// Projects that are built after them, each behind those that it is built after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<ProjectBuild>,
    /// Finished wheels that are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<TakenWheel>,
    /// Wheels that others provide, which projects are built with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefetched: Vec<PrefetchedWheel>,
    /// How projects get the devel package's tree, where one of them wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devel: Option<DevelTree>,
    /// What drop rules leave out, a line for each that drops something.
    #[serde(default)]
    pub dropped: Vec<Dropped>,
    /// Files that no package takes and no rule drops.
    pub unowned: Vec<Unowned>,
    /// What is worth knowing though nothing is wrong.
    pub notes: Vec<Note>,
    /// What is doubtful, and may not stop a build.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// The digest of the plan of all packages, where `--only` left some out. It is not printed: [`Plan::digest`].
    #[serde(skip)]
    pub whole: Option<String>,
}

impl Plan {
    /// The files of artifacts whose bytes packages take, those that several take several times.
    pub fn sources(&self) -> impl Iterator<Item = &Origin> {
        let members = self.distributions.iter().flat_map(Distribution::all_members);
        members.filter_map(|member| member.step.source())
    }
}

/// What one drop rule leaves out on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Dropped {
    /// The rule: `packages.kdl:12`.
    pub rule: String,
    /// Why, as it says.
    pub reason: String,
    /// How many files and links; each counts for the first rule that drops it.
    pub files: usize,
    /// Their size in bytes, all together.
    pub size: u64,
}

/// A file that no package takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unowned {
    /// The file.
    #[serde(flatten)]
    pub origin: Origin,
    /// Its size in bytes.
    pub size: u64,
    /// The line that keeps it out, or the one that is missing.
    #[serde(default)]
    pub reason: String,
}

// Unit tests share cases with `tests/`, which know this crate by its name.
#[cfg(test)]
extern crate self as plan;
