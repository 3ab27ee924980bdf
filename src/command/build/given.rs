//! What a build farm is given to build packages by, and what comes of it.

use std::collections::BTreeMap;

use base::source::{Problem, Source};
use build::execute::Elsewhere;
use build::provenance::Contents;
use manifest::Manifest;
use plan::catalog::ArtifactId;
use plan::{Plan, Request};

use crate::cli::BuildArgs;
use crate::inputs::Shared;
use crate::inputs::artifacts::Asked;

/// What the packages are made by.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "nobody reads it without a farm"))]
pub struct Given<'a> {
    pub args: &'a BuildArgs,
    pub sources: &'a (Source, Source),
    pub manifest: &'a Manifest,
    pub request: &'a Request,
    pub asked: Asked<'a>,
    pub plan: &'a Plan,
    pub shared: &'a Shared<'a>,
}

/// What came of it.
#[derive(Default)]
pub struct Farmed {
    /// The packages that the farm built, where there are any.
    pub elsewhere: Option<Elsewhere>,
    /// Digests of the artifacts that it built them of.
    pub contents: BTreeMap<ArtifactId, Contents>,
    /// What is an error once everything is made.
    pub missed: Option<Problem>,
    /// What the build says at its end.
    pub line: Option<String>,
}
