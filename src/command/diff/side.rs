//! One side of a comparison, read from wherever it is.

use rockpack::resolve;
use std::cell::OnceCell;
use std::path::Path;

use rayon::prelude::*;
use rockpack::catalog::Catalog;
use rockpack::manifest::Manifest;
use rockpack::package::{self, Built, built};
use rockpack::plan::{Plan, Request};
use rockpack::review::diff::Contents;
use rockpack::source::{Code, Problem, Source};
use rockpack::text::with_causes;

use super::super::{Failure, environment};
use super::at_revision;
use crate::builtin;
use crate::cli::{BUILT_IN, DiffArgs};
use crate::inputs;
use crate::inputs::artifacts::Asked;

/// Which of both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Old,
    New,
}

/// A side with what people call it.
pub struct Side {
    label: String,
    holds: Holds,
}

enum Holds {
    Plan(Box<Plan>),
    Built(Vec<Built>),
}

impl Side {
    pub fn contents(&self) -> Contents<'_> {
        match &self.holds {
            Holds::Plan(plan) => Contents::of_plan(&*self.label, plan),
            Holds::Built(built) => Contents::of_built(&*self.label, built),
        }
    }
}

/// Reads sides; the artifacts once, when a manifest needs them.
pub struct Sides<'a> {
    args: &'a DiffArgs,
    catalog: OnceCell<Catalog>,
}

/// What to write as OLD and NEW.
const EXPECTED: &str = "OLD and NEW are each a plan saved by `rockpack plan --json`, a directory with packages.kdl and families.kdl, `built-in`, or a directory of built packages";

impl<'a> Sides<'a> {
    pub fn new(args: &'a DiffArgs) -> Self {
        Self { args, catalog: OnceCell::new() }
    }

    /// The side at `path`; without one the manifest, as it was at the revision that was asked for.
    pub fn read(&self, which: Which, path: Option<&Path>) -> Result<Side, Failure> {
        match (path, &self.args.manifest_at) {
            (Some(path), _) => self.at(path),
            (None, Some(revision)) if which == Which::Old => self.at_revision(revision),
            (None, _) => self.manifest(self.args.set.manifest.as_deref()),
        }
    }

    fn at(&self, path: &Path) -> Result<Side, Failure> {
        if path.as_os_str() == BUILT_IN {
            return self.manifest(Some(path));
        }
        if path.is_file() {
            return saved(path);
        }
        if !path.is_dir() {
            return Err(Problem::error(
                Code::Environment,
                format!("{} does not exist", path.display()),
            )
            .help(format!("{}{EXPECTED}", inputs::near(path)))
            .into());
        }
        if path.join(builtin::PACKAGES.0).is_file() {
            return self.manifest(Some(path));
        }
        built(path)
    }

    fn manifest(&self, directory: Option<&Path>) -> Result<Side, Failure> {
        let sources = inputs::manifest::sources(directory)?;
        self.planned(&sources.0, &inputs::manifest::decode(&sources)?)
    }

    fn at_revision(&self, revision: &str) -> Result<Side, Failure> {
        // The manifest that is compared says whose history is meant.
        let beside =
            self.args.old.as_deref().filter(|path| path.join(builtin::PACKAGES.0).is_file());
        let directory = beside.or(self.args.set.manifest.as_deref()).unwrap_or(Path::new("."));
        let read = |name: &str| at_revision::read(directory, revision, name);
        let sources = (read(builtin::PACKAGES.0)?, read(builtin::FAMILIES.0)?);
        let manifest = inputs::manifest::decode_with(&sources, &|path| {
            at_revision::text(directory, revision, path)
        })?;
        self.planned(&sources.0, &manifest)
    }

    /// Plans a manifest. Whatever file it is of, its rules are called the same, so that they compare.
    fn planned(&self, packages: &Source, manifest: &Manifest) -> Result<Side, Failure> {
        let request = inputs::request(manifest, &self.args.set)?;
        let (catalog, templates) = (self.catalog(manifest, &request)?, builtin::templates());
        // What is doubtful is in the plan: the difference tells what of it is new or gone.
        let (plan, _) = resolve::plan(manifest, catalog, &templates, &request)?;
        let label = inputs::manifest::label(packages).to_owned();
        Ok(Side { label, holds: Holds::Plan(Box::new(plan)) })
    }

    /// The artifacts. Both sides are of the same, so that all of a run are taken, whatever one manifest needs.
    fn catalog(&self, manifest: &Manifest, request: &Request) -> Result<&Catalog, Failure> {
        if let Some(catalog) = self.catalog.get() {
            return Ok(catalog);
        }
        let args = self.args.catalog.as_ref().ok_or_else(|| {
            Problem::error(
                Code::Environment,
                "a manifest is compared by what it makes of artifacts, and none are given",
            )
            .help("add --artifact-dir DIR, or compare two plans")
        })?;
        let (artifacts, verbose) = (&self.args.artifacts, self.args.set.verbose);
        let asked = Asked::new(args, artifacts, manifest, request, verbose);
        let asked = Asked { request: None, ..asked };
        let catalog = inputs::catalog(args.catalog.as_deref(), asked)?;
        Ok(self.catalog.get_or_init(|| catalog))
    }
}

fn saved(path: &Path) -> Result<Side, Failure> {
    let text = fs_err::read_to_string(path).map_err(|e| environment(e.to_string()))?;
    let plan = Plan::read(&text).map_err(|e| {
        Problem::error(
            Code::Environment,
            format!("cannot read {}: {}", path.display(), with_causes(&e)),
        )
        .help(EXPECTED)
    })?;
    Ok(Side { label: path.display().to_string(), holds: Holds::Plan(Box::new(plan)) })
}

fn built(path: &Path) -> Result<Side, Failure> {
    let found = package::packages(path)
        .map_err(|e| Problem::error(Code::Environment, with_causes(&e)).help(EXPECTED))?;
    let read: Vec<_> = found.par_iter().map(built::read).collect();
    let built =
        read.into_iter().collect::<Result<_, _>>().map_err(|e| environment(with_causes(&e)))?;
    Ok(Side { label: path.display().to_string(), holds: Holds::Built(built) })
}
