//! One side of a comparison, read from wherever it is.

use plan::resolve;
use std::cell::OnceCell;
use std::path::Path;

use base::source::{Code, Problem, Problems, Source};
use base::text::with_causes;
use manifest::Manifest;
use plan::catalog::Catalog;
use plan::review::built::{self, Built};
use plan::review::diff::{Contents, Reasons};
use plan::{Plan, Request};
use rayon::prelude::*;
use wheel::package;

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
    planned: Option<Planned>,
}

/// A manifest that was planned for a comparison.
pub struct Planned {
    pub manifest: Manifest,
    request: Request,
    /// Errors of files that are in no package: the comparison shows what they are.
    pub faults: Problems,
    warnings: Problems,
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

    /// How people call it.
    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn plan(&self) -> Option<&Plan> {
        match &self.holds {
            Holds::Plan(plan) => Some(plan),
            Holds::Built(_) => None,
        }
    }

    pub fn planned(&self) -> Option<&Planned> {
        self.planned.as_ref()
    }

    /// Warnings of files that are in no package.
    pub fn warnings(&self) -> Option<&Problems> {
        self.planned.as_ref().map(|planned| &planned.warnings)
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
            (Some(path), _) => self.at(which, path),
            (None, Some(revision)) if which == Which::Old => self.at_revision(revision),
            (None, _) => self.manifest(which, self.args.set.manifest.as_deref()),
        }
    }

    fn at(&self, which: Which, path: &Path) -> Result<Side, Failure> {
        if path.as_os_str() == BUILT_IN {
            return self.manifest(which, Some(path));
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
            return self.manifest(which, Some(path));
        }
        built(path)
    }

    fn manifest(&self, which: Which, directory: Option<&Path>) -> Result<Side, Failure> {
        let sources = inputs::manifest::sources(directory)?;
        self.planned(which, &sources.0, inputs::manifest::decode(&sources)?)
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
        self.planned(Which::Old, &sources.0, manifest)
    }

    /// Plans a manifest. Whatever file it is of, its rules are called the same, so that they compare.
    /// Files in no package stop no comparison: of the old side they are what a change may mend, of the
    /// new side they are reported after it.
    fn planned(
        &self,
        which: Which,
        packages: &Source,
        manifest: Manifest,
    ) -> Result<Side, Failure> {
        let mut request = inputs::request(&manifest, &self.args.set)?;
        let (catalog, templates) = (self.catalog(&manifest, &request)?, builtin::templates());
        let is_new = which == Which::New;
        request.allow_unowned |= !is_new;
        let mut faults = Problems::new();
        let planned = resolve::plan(&manifest, catalog, &templates, &request);
        let (mut plan, warnings) = match planned {
            Err(problems) if are_of_ownership(&problems) => {
                faults = problems;
                request.allow_unowned = true;
                resolve::plan(&manifest, catalog, &templates, &request)?
            }
            planned => planned?,
        };
        if !self.args.set.allow.contains(&Code::UnownedFiles) {
            plan.warnings.retain(|warning| warning.code != Code::UnownedFiles.to_string());
        }
        let loud = is_new && faults.is_empty();
        // What else is doubtful is in the plan: the difference tells what of it is new or gone.
        let warnings = warnings.iter().filter(|w| loud && w.code() == Code::UnownedFiles);
        let warnings = collected(warnings);
        let label = inputs::manifest::label(packages).to_owned();
        let planned = Some(Planned { manifest, request, faults, warnings });
        Ok(Side { label, holds: Holds::Plan(Box::new(plan)), planned })
    }

    /// Calls `work` with the contents of a side, which know why packages of its manifest leave files out.
    pub fn with_reasons<R>(&self, side: &Side, work: impl FnOnce(Contents<'_>) -> R) -> R {
        let (Some(planned), Some(catalog)) = (&side.planned, self.catalog.get()) else {
            return work(side.contents());
        };
        resolve::with_reasons(&planned.manifest, catalog, &planned.request, |why| {
            work(side.contents().with_reasons(Reasons(why)))
        })
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

/// Whether all errors are of files that are in no package.
fn are_of_ownership(problems: &Problems) -> bool {
    problems.iter().filter(|p| p.is_error()).all(|p| p.code() == Code::UnownedFiles)
}

fn collected<'p>(problems: impl Iterator<Item = &'p Problem>) -> Problems {
    problems.cloned().fold(Problems::new(), |mut all, problem| {
        all.push(problem);
        all
    })
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
    Ok(Side {
        label: path.display().to_string(),
        holds: Holds::Plan(Box::new(plan)),
        planned: None,
    })
}

fn built(path: &Path) -> Result<Side, Failure> {
    let found = package::packages(path)
        .map_err(|e| Problem::error(Code::Environment, with_causes(&e)).help(EXPECTED))?;
    let read: Vec<_> = found.par_iter().map(built::read).collect();
    let built =
        read.into_iter().collect::<Result<_, _>>().map_err(|e| environment(with_causes(&e)))?;
    Ok(Side { label: path.display().to_string(), holds: Holds::Built(built), planned: None })
}
