//! Finished wheels that `rockpack split` parts into a host wheel and one for each target.

use super::{Glob, Template};
use crate::text::choice;
use base::names::{PackageName, RelPath};
use base::source::Spanned;

/// `wheel "torch" { device-by "path" …; files … }`: how a finished wheel is split.
#[derive(Debug, Clone)]
pub struct SplitRule {
    /// The name of its distribution, as indexes compare it, and where it is declared.
    pub name: Spanned<PackageName>,
    /// By what its device code is told apart.
    pub by: Vec<DeviceBy>,
    /// The names of the wheels with device code, with a place for the target.
    pub device: Spanned<Template>,
    /// The directory of the wheel that paths are below.
    pub root: Option<RelPath>,
    /// Files that go into the wheel of the target that their path names.
    pub files: Vec<SplitFiles>,
    /// Words that paths have for targets.
    pub words: Vec<TargetWord>,
    /// Files that stay in the host wheel.
    pub keeps: Vec<SplitFiles>,
    /// What each wheel for an ISA requires, with places for the ISA and the version.
    pub requires: Vec<Spanned<Template>>,
}

/// By what device code is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceBy {
    /// Files, by the targets that their paths name.
    Path,
    /// The offload bundles in programs and libraries, by the targets that these name.
    Bundle,
}

choice!(DeviceBy, "a way to tell device code apart", "path" => Path, "bundle" => Bundle);

/// `files "lib/blas/**" optional="…"` or `host "share/**" reason="…"`.
#[derive(Debug, Clone)]
pub struct SplitFiles {
    /// Paths below the root.
    pub globs: Vec<Spanned<Glob>>,
    /// Why a glob may match nothing.
    pub optional: Option<String>,
}

/// `target-word "gpu9xx" is="gpu9"`: a target under another name.
#[derive(Debug, Clone)]
pub struct TargetWord {
    /// As paths have it.
    pub word: Spanned<String>,
    /// The ISA or level.
    pub target: Spanned<String>,
}

impl SplitFiles {
    /// The first of its globs that matches, by its place among them.
    pub fn taking(&self, path: &RelPath) -> Option<usize> {
        self.globs.iter().position(|glob| glob.matches(path))
    }
}
