use plan::resolve;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

use base::source::{Code, Problem, Problems, Source};
use base::text::with_causes;
use base::version::Version;
use catalog::Catalog;
use check::read::{self, Depth};
use manifest::Manifest;
use plan::LossSubject;
use plan::resolve::AllowedLosses;
use plan::{Plan, Request};
use rayon::prelude::*;
use review::contract::Saved;
use review::diff::{Allowances, Contents, Reasons};
use wheel::package;

use super::super::{Failure, environment};
use super::allowed::Allowed;
use super::at_revision;
use super::published::Published;
use crate::builtin;
use crate::cli::{BUILT_IN, DiffArgs};
use crate::inputs::artifacts::ArtifactOptions;
use crate::inputs::{self, saved_plan};

#[derive(Clone, Copy)]
pub enum Which<'s> {
    /// With the new side, which is read before a manifest: the manifest can lack its ISAs.
    Old(Option<&'s Side>),
    New,
}

pub struct Side {
    label: String,
    holds: Holds,
    planned: Option<Planned>,
}

pub struct Planned {
    pub manifest: Manifest,
    request: Request,
    /// Errors of unowned files: the comparison shows them.
    pub faults: Problems,
    warnings: Problems,
}

enum Holds {
    Plan(Box<Plan>),
    Contract(Box<Saved>),
    Built(Vec<check::Package<'static>>),
}

impl Side {
    pub fn contents(&self) -> Contents<'_> {
        match &self.holds {
            Holds::Plan(plan) => Contents::of_plan(&*self.label, plan),
            Holds::Contract(saved) => Contents::of_saved(&*self.label, saved),
            Holds::Built(built) => Contents::of_built(&*self.label, built),
        }
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn plan(&self) -> Option<&Plan> {
        match &self.holds {
            Holds::Plan(plan) => Some(plan),
            Holds::Built(_) | Holds::Contract(_) => None,
        }
    }

    /// Returns whether the side is a saved contract, whose packages have no files.
    pub fn is_contract(&self) -> bool {
        matches!(self.holds, Holds::Contract(_))
    }

    fn version(&self) -> Version {
        self.contents().version.cloned().unwrap_or_else(Version::unknown)
    }

    pub fn planned(&self) -> Option<&Planned> {
        self.planned.as_ref()
    }

    pub fn labelled(self, label: String) -> Self {
        Self { label, ..self }
    }

    pub fn warnings(&self) -> Option<&Problems> {
        self.planned.as_ref().map(|planned| &planned.warnings)
    }
}

/// Reader that reads the artifacts at most once.
pub struct Sides<'a> {
    args: &'a DiffArgs,
    catalog: OnceCell<Catalog>,
}

const EXPECTED: &str = "give for OLD and NEW a plan of `rockpack plan --json`, a directory with \
    packages.kdl and families.kdl, `built-in`, or a directory of built packages";

impl<'a> Sides<'a> {
    pub fn new(args: &'a DiffArgs) -> Self {
        Self { args, catalog: OnceCell::new() }
    }

    /// Reads the manifest if `path` is missing, for the old side at the requested revision.
    pub fn read(&self, which: Which<'_>, path: Option<&Path>) -> Result<Side, Failure> {
        match (path, &self.args.manifest_at) {
            (Some(path), _) => self.side_at(which, path),
            (None, Some(revision)) if let Which::Old(new) = which => {
                self.at_revision(revision, new)
            }
            (None, _) => self.manifest(which, self.args.set.manifest.as_deref()),
        }
    }

    pub fn revision(&self) -> Option<&str> {
        self.args.manifest_at.as_deref()
    }

    pub fn wants_last_good(&self) -> bool {
        self.args.against_last_good
    }

    /// Returns the directory of the compared manifest, which determines the repository.
    pub fn repository(&self) -> &Path {
        let directory =
            self.args.old.as_deref().filter(|path| path.join(builtin::PACKAGES.0).is_file());
        directory.or(self.args.set.manifest.as_deref()).unwrap_or(Path::new("."))
    }

    /// Returns whether a side is a manifest, which must be planned.
    pub fn plans(path: Option<&Path>) -> bool {
        path.is_none_or(|path| {
            path.as_os_str() == BUILT_IN || path.join(builtin::PACKAGES.0).is_file()
        })
    }

    fn side_at(&self, which: Which<'_>, path: &Path) -> Result<Side, Failure> {
        if path.as_os_str() == BUILT_IN {
            return self.manifest(which, Some(path));
        }
        if let Some(published) = Published::of(path)? {
            let label = published.label();
            return Ok(Side { label, holds: Holds::Built(published.read()?), planned: None });
        }
        super::super::repaired(path)?;
        if path.is_file() {
            return saved(path, which);
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
        built(path, if self.has_published()? { Depth::Outline } else { Depth::Comparison })
    }

    /// Refuses families of an old side that is not planned, and to compare an index with a plan,
    /// which has the content of devel archives.
    pub fn check(&self) -> Result<(), Failure> {
        let is_finished = |path: &Path| !Self::plans(Some(path));
        let old = self.args.old.as_deref().filter(|_| self.args.manifest_at.is_none());
        if self.args.plans_old() && old.is_some_and(is_finished) {
            let message = "families of OLD are given, but OLD is not a manifest";
            let help = "remove --old-linux-amdgpu-families and --old-windows-amdgpu-families";
            return Err(Problem::usage(Code::Environment, message).help(help).into());
        }
        let is_planned = |path: Option<&Path>| Self::plans(path) || path.is_some_and(Path::is_file);
        let (old, new) = (self.args.old.as_deref(), self.args.new.as_deref());
        if !self.has_published()? || !(is_planned(old) || is_planned(new)) {
            return Ok(());
        }
        let message = "an index is compared with another one, or with a directory of packages";
        let help = "write OLD and NEW, such as `rockpack diff INDEX@OLD INDEX@NEW`";
        Err(Problem::usage(Code::Environment, message).help(help).into())
    }

    /// Returns whether a side is an index, of which only outlines are read: a directory is compared
    /// with it by the same facts.
    fn has_published(&self) -> Result<bool, Failure> {
        for path in [&self.args.old, &self.args.new].into_iter().flatten() {
            if Published::of(path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn manifest(&self, which: Which<'_>, directory: Option<&Path>) -> Result<Side, Failure> {
        let sources = inputs::manifest::sources(directory)?;
        self.planned(which, &sources.0, inputs::manifest::decode(&sources)?)
    }

    pub fn at_revision(&self, revision: &str, new: Option<&Side>) -> Result<Side, Failure> {
        let directory = self.repository();
        let read = |name: &str| at_revision::read(directory, revision, name);
        let sources = (read(builtin::PACKAGES.0)?, read(builtin::FAMILIES.0)?);
        let manifest = inputs::manifest::decode_with(&sources, &|path| {
            at_revision::text(directory, revision, path)
        })?;
        self.planned(Which::Old(new), &sources.0, manifest)
    }

    /// Plans a manifest, with rules under the same names for both sides. Unowned files do not stop
    /// a comparison: a change may correct the old side's, and the new side's are reported later.
    fn planned(
        &self,
        which: Which<'_>,
        packages: &Source,
        manifest: Manifest,
    ) -> Result<Side, Failure> {
        let is_new = matches!(which, Which::New);
        let request = inputs::request(&manifest, &self.args.set)?;
        let mut request = if is_new { request } else { self.args.old_request(request) };
        let (catalog, templates) = (self.catalog(&manifest, &request)?, builtin::templates());
        let catalog = &*match which {
            Which::Old(new) => of_its_time(catalog, &manifest, new),
            Which::New => Cow::Borrowed(catalog),
        };
        let mut faults = Problems::new();
        let planned = resolve::plan(&manifest, catalog, &templates, &request);
        let (mut plan, warnings) = match planned {
            Err(problems) if are_of_ownership(&problems) => {
                faults = problems;
                request.allowed.push(Code::UnownedFiles);
                resolve::plan(&manifest, catalog, &templates, &request)?
            }
            planned => planned?,
        };
        if !self.args.set.allow.contains(&Code::UnownedFiles) {
            plan.warnings.retain(|warning| warning.code != Code::UnownedFiles.to_string());
        }
        let loud = is_new && faults.is_empty();
        // All other warnings are in the plan, which is compared.
        let warnings = warnings.iter().filter(|w| loud && w.code() == Code::UnownedFiles);
        let warnings = collected(warnings);
        let label = inputs::manifest::label(packages).to_owned();
        let planned = Some(Planned { manifest, request, faults, warnings });
        Ok(Side { label, holds: Holds::Plan(Box::new(plan)), planned })
    }

    /// Calls `work` with the contents of the new side, its reasons for left out files, and the
    /// losses that it allows.
    pub fn with_reasons<R>(
        &self,
        old: &Side,
        new: &Side,
        work: impl FnOnce(Contents<'_>) -> R,
    ) -> R {
        let lines = new.planned.as_ref().zip(self.catalog.get()).map(|(planned, catalog)| {
            let old = old.planned.as_ref().map(|planned| &planned.manifest);
            AllowedLosses::new(old, &planned.manifest, catalog, &planned.request)
        });
        let allowed = Allowed::new(&self.args.set.allow, new.plan(), lines);
        let allows = |subject: &LossSubject<'_>| allowed.note_of(subject);
        let contents = || new.contents().with_allowances(Allowances(&allows));
        let (Some(planned), Some(catalog)) = (&new.planned, self.catalog.get()) else {
            return work(contents());
        };
        resolve::with_reasons(&planned.manifest, catalog, &planned.request, |why| {
            work(contents().with_reasons(Reasons(why)))
        })
    }

    /// Returns all artifacts of a run, as the two manifests may need different ones.
    fn catalog(&self, manifest: &Manifest, request: &Request) -> Result<&Catalog, Failure> {
        if let Some(catalog) = self.catalog.get() {
            return Ok(catalog);
        }
        let args = self.args.catalog.as_ref().ok_or_else(|| {
            Problem::error(Code::Environment, "the comparison of a manifest needs artifacts")
                .help("add --artifact-dir DIR, or compare two plans")
        })?;
        let (artifacts, verbose) = (&self.args.artifacts, self.args.set.verbose);
        let options = ArtifactOptions::new(args, artifacts, manifest, request, verbose);
        let options = ArtifactOptions { request: None, ..options };
        let catalog = inputs::catalog(args.catalog.as_deref(), options)?;
        Ok(self.catalog.get_or_init(|| catalog))
    }
}

/// Leaves out the artifacts of ISAs that only the new side declares.
fn of_its_time<'c>(catalog: &'c Catalog, old: &Manifest, new: Option<&Side>) -> Cow<'c, Catalog> {
    let names = |manifest: &Manifest| -> BTreeSet<String> {
        manifest.families.names().map(str::to_owned).collect()
    };
    let declared = new.and_then(Side::planned).map(|new| names(&new.manifest)).unwrap_or_default();
    let later: BTreeSet<String> = declared.difference(&names(old)).cloned().collect();
    let mut catalog = Cow::Borrowed(catalog);
    if !later.is_empty() {
        let catalog = catalog.to_mut();
        catalog.artifacts.retain(|artifact| !later.contains(artifact.id.family.as_str()));
        catalog.build.targets.retain(|target| !later.contains(target));
    }
    catalog
}

fn are_of_ownership(problems: &Problems) -> bool {
    problems.iter().filter(|p| p.is_error()).all(|p| p.code() == Code::UnownedFiles)
}

fn collected<'p>(problems: impl Iterator<Item = &'p Problem>) -> Problems {
    problems.cloned().fold(Problems::new(), |mut problems, problem| {
        problems.push(problem);
        problems
    })
}

fn saved(path: &Path, which: Which<'_>) -> Result<Side, Failure> {
    let broken = |reason: &dyn Display| saved_plan::broken(path, reason, EXPECTED);
    let text = saved_plan::text(path, EXPECTED)?;
    let is_contract = Saved::is_contract(&text)
        .map_err(|error| broken(&format_args!("it is neither a plan nor a contract: {error}")))?;
    if is_contract {
        return contract(path, &text, which);
    }
    let plan = Plan::read(&text).map_err(|error| broken(&with_causes(&error)))?;
    Ok(Side {
        label: path.display().to_string(),
        holds: Holds::Plan(Box::new(plan)),
        planned: None,
    })
}

fn contract(path: &Path, text: &str, which: Which<'_>) -> Result<Side, Failure> {
    let label = path.display().to_string();
    let Which::Old(Some(new)) = which else {
        let message = format!("{label} is a contract, which only OLD can be");
        return Err(Problem::usage(Code::Environment, message).help(EXPECTED).into());
    };
    let saved = Saved::read(text, &new.version())
        .map_err(|error| saved_plan::broken(path, &with_causes(&error), EXPECTED))?;
    Ok(Side { label, holds: Holds::Contract(Box::new(saved)), planned: None })
}

fn built(path: &Path, depth: Depth) -> Result<Side, Failure> {
    let packages = package::packages(path)
        .map_err(|e| Problem::error(Code::Environment, with_causes(&e)).help(EXPECTED))?;
    let read: Vec<_> = packages.par_iter().map(|package| read::package(package, depth)).collect();
    let built =
        read.into_iter().collect::<Result<_, _>>().map_err(|e| environment(with_causes(&e)))?;
    Ok(Side { label: path.display().to_string(), holds: Holds::Built(built), planned: None })
}
