//! The plan: every file of every package, with source, step and rule.
//!
//! [`resolve`] makes plans of a manifest and a [`catalog`], [`review`] shows and compares them, and
//! the crate `build` executes them. Only the catalog's scan reads files; only [`demo`] writes any.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use base::names::{Mode, RelPath};
use base::version::Version;
use catalog::SourcePath;

mod digest;
mod distribution;
mod excess;
mod limits;
mod loss_subject;
mod member;
mod note;
mod only;
mod read;
mod rendered;
mod request;
pub mod resolve;
mod since;
mod source_build;
mod texts;
mod title;

pub use base::names::Form;
pub use digest::digest;
pub use distribution::{Absent, Distribution, WheelVariant};
pub use excess::Excess;
pub use limits::{Limit, Limits};
pub use loss_subject::LossSubject;
pub use member::{Archive, Member, Step};
pub use note::{Labelled, Note, Warning};
pub use only::{OnlyName, OnlyNameError};
pub use read::PlanReadError;
pub use rendered::Rendered;
pub use request::Request;
pub use since::{EarlierPackage, Since, matched};
pub use source_build::{
    DevelTree, NativeBuild, PrefetchedWheel, ProjectBuild, RunCommand, RunScript, Sources,
    TakenWheel, Trial,
};
pub use title::{named, title};
pub use wheel::archive::metadata::{Description, Metadata};
pub use wheel::archive::variants::{NULL, Provider, Variants};

/// Format number of the plan.
///
/// Grows with the first change after a release that breaks readers, even an added field: the schema
/// is closed.
pub const FORMAT: u32 = 1;

/// Python sources of the runtime: path and text, by template.
pub type Templates = BTreeMap<String, Vec<(RelPath, String)>>;

/// Everything a build makes: printed by `rockpack plan --json`, executed by `rockpack build`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format number, [`FORMAT`]; readers reject any other.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// Split of device code from host code; none in a product without ISAs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Version of every package.
    pub version: Version,
    /// Platform tag of wheels without their own: that of most wheels.
    pub platform_tag: String,
    /// Distributions, in the order of the manifest.
    pub distributions: Vec<Distribution>,
    /// Texts in files of several packages; the files have their numbers, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<String>"))]
    pub texts: Vec<Arc<str>>,
    /// Packages of earlier nights in the set, with `--since`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierPackage>,
    /// Projects to build after the distributions, dependencies first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<ProjectBuild>,
    /// Finished wheels that the build takes over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<TakenWheel>,
    /// Wheels from other providers that projects are built with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefetched: Vec<PrefetchedWheel>,
    /// Source of the devel tree for projects, if one of them needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devel: Option<DevelTree>,
    /// Files that drop rules leave out, by rule.
    #[serde(default)]
    pub dropped: Vec<Dropped>,
    /// Files that no package takes and no rule drops.
    pub unowned: Vec<Unowned>,
    /// Remarks that need no action.
    pub notes: Vec<Note>,
    /// Warnings, sorted as they are printed.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Digest of the plan of all packages, if `--only` left some out. See [`Plan::digest`].
    #[serde(skip)]
    pub whole: Option<String>,
}

impl Plan {
    /// Platform tag of a distribution of this plan.
    pub fn platform_tag_of<'p>(&'p self, distribution: &'p Distribution) -> &'p str {
        distribution.platform_tag.as_deref().unwrap_or(&self.platform_tag)
    }

    /// The same plan, whose JSON has no shared texts: they depend on all packages of a plan.
    #[must_use]
    pub fn with_whole_texts(mut self) -> Self {
        texts::separate(&mut self);
        self
    }

    /// Artifact files of members, with repetitions.
    pub fn sources(&self) -> impl Iterator<Item = &SourcePath> {
        let members = self.distributions.iter().flat_map(Distribution::all_members);
        members.filter_map(|member| member.step.source())
    }
}

/// Files that one drop rule leaves out on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    /// Rule: `packages.kdl:12`.
    pub rule: String,
    /// Reason from the rule.
    pub reason: String,
    /// Number of files and links; each counts for the first rule that drops it.
    pub files: usize,
    /// Total size in bytes.
    pub size: u64,
}

/// A file that no package takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unowned {
    /// Artifact and path of the file.
    #[serde(flatten)]
    pub origin: SourcePath,
    /// Size in bytes.
    pub size: u64,
    /// Manifest line that excludes the file, or the missing line.
    #[serde(default)]
    pub reason: String,
}

#[cfg(test)]
extern crate self as plan;
