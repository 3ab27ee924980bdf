use std::collections::BTreeMap;

use base::source::{Problem, Source};
use build::execute::Elsewhere;
use catalog::ArtifactId;
use manifest::Manifest;
use plan::{Plan, Request};
use record::provenance::Contents;

use crate::cli::BuildArgs;
use crate::failure::Failure;
use crate::inputs::Remote;
use crate::inputs::artifacts::ArtifactOptions;

#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "nobody reads it without a farm"))]
pub struct FarmInput<'a> {
    pub args: &'a BuildArgs,
    pub sources: &'a (Source, Source),
    pub manifest: &'a Manifest,
    pub request: &'a Request,
    pub artifact_options: ArtifactOptions<'a>,
    pub plan: &'a Plan,
    pub remote: &'a Remote<'a>,
}

/// Build farm that makes whole packages.
pub trait Farm: Send {
    /// Fails for faulty artifacts or unusable files here. Without artifacts here, also fails if the
    /// farm does not build a package.
    fn build(self: Box<Self>, input: FarmInput<'_>) -> Result<Farmed, Failure>;
}

#[derive(Default)]
pub struct Farmed {
    pub elsewhere: Option<Elsewhere>,
    pub contents: BTreeMap<ArtifactId, Contents>,
    /// Problem that is an error after the build.
    pub missed: Option<Problem>,
    /// Line for the end of the build.
    pub line: Option<String>,
}
