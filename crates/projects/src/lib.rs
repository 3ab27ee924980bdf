//! Builds Python projects through PEP 517, and takes finished wheels, according to a plan.
//!
//! Each project is built from a copy of its checkout. Of earlier results, it sees the packages of
//! artifacts and the wheels that it is declared `after`.
//!
//! Equal sources and tools give equal bytes: time, environment and stored paths are fixed. Builds
//! cannot write outside of their directories.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::names::{PackageName, RelPath};
use plan::Plan;
use record::gate::Gate;
use record::provenance::ProjectInputs;
use wheel::archive::{Stage, StageError};
use wheel::package::WheelName;

mod again;
mod builder;
mod channel;
mod checkout;
mod checkouts;
mod compilers;
mod complaints;
mod confined;
mod content;
mod devel;
mod dirty;
mod draft;
mod failed;
mod filter;
mod fingerprint;
mod finish;
mod finished_wheel;
mod git;
mod git_program;
mod installed;
mod item;
mod lock;
mod mounts;
mod namespaces;
mod native;
mod parts;
mod pending;
mod place;
mod prefetch;
mod prefixes;
mod private;
mod process;
mod product;
mod project;
mod reach;
mod recorded;
mod remote;
mod repair;
mod repositories;
mod requirements;
mod resume;
mod rights;
mod runner;
mod schedule;
mod sdists;
mod snapshot;
mod sockets;
mod survey;
mod tools;
mod tree;
mod tree_copy;
mod trial;
mod used;
mod variables;
mod walled;
mod walls;
mod wheelhouse;
mod workspace;

use builder::Builder;
use schedule::End;

pub use checkout::copy_checkout;
pub use checkouts::{CHECKOUTS_FORMAT, CheckoutState, CheckoutStates, State, checkouts};
pub use compilers::MissingPrograms;
pub use confined::{Holds, holds};
pub use content::{CheckoutContent, NamedFiles, Repository};
pub use draft::{Draft, MAX_DEPTH, draft};
pub use git_program::{GitError, git_in};
pub use lock::Lock;
pub use runner::run as run_confined;
pub use snapshot::{Snapshot, snapshots};
pub use survey::survey;
pub use tools::ToolsError;
pub use trial::{Ran, TrialKind};
pub use walls::Walls;

/// Settings of a build.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Root of all sources; absolute.
    pub sources: Option<PathBuf>,
    /// Installed tree to build against, instead of a devel package; absolute.
    pub installed: Option<PathBuf>,
    /// Building Python: a path, or a name in `PATH`.
    pub python: PathBuf,
    /// Directory to build in, absolute and without blanks; `None` for the default.
    pub build_directory: Option<PathBuf>,
    /// Number of parallel projects, and of their processes together.
    pub jobs: usize,
    /// Locked requirements.
    pub lock: Option<Lock>,
    /// Disables reuse.
    pub rebuild: bool,
    /// Keeps the devel tree, environments and object files in `DEST/work`, and resumes there.
    pub keep_work: bool,
    /// Builds may write anywhere.
    pub unconfined: bool,
    /// Normalized names that the manifest declares: no index provides them, unless a node says so.
    pub declared: BTreeSet<String>,
    /// Names of projects whose absence does not stop projects with an `after` line for them: native
    /// ones, as the caller can pass the directory of an installed one, and `optional` ones without
    /// a checkout.
    pub may_be_absent: BTreeSet<String>,
    /// Directories that no build may change, even if variables name them as caches.
    pub protected: Vec<PathBuf>,
    /// Trials to run with the wheels.
    pub trials: Vec<TrialKind>,
}

/// Progress event, from any thread.
#[derive(Debug, Clone)]
pub enum Happened {
    /// The requirements of this number of projects are resolved.
    Resolving(usize),
    /// Started.
    Started(String),
    /// Finished, with wheels and duration.
    Finished(String, Vec<String>, Duration),
    /// Builds are in this directory, since other builds have the usual one.
    Elsewhere(PathBuf),
    /// Reused from an earlier build.
    Reused(String),
    /// Failed.
    Failed(String),
}

/// A made or taken wheel.
#[derive(Debug, Clone)]
pub struct MadeWheel {
    /// Project or `wheel` node.
    pub name: PackageName,
    /// Path below the destination.
    pub path: RelPath,
    /// Size in bytes.
    pub size: u64,
    /// Duration of the build.
    pub took: Duration,
    /// Reused from an earlier build.
    pub is_reused: bool,
}

/// A missing result.
#[derive(Debug, Clone)]
pub struct NotMade {
    /// Project, wheel or devel tree.
    pub name: PackageName,
    /// Trial that failed although the wheel exists; `None` without the wheel.
    pub trial: Option<TrialKind>,
    /// Reason.
    pub why: MissingReason,
}

/// Reason of a missing result.
#[derive(Debug, Clone)]
pub enum MissingReason {
    /// A step failed.
    Failed {
        /// Step, and its failure.
        reason: String,
        /// Log, relative to the destination.
        log: Option<RelPath>,
        /// Last lines of the log.
        tail: Vec<String>,
    },
    /// A dependency is missing.
    Waited {
        /// The dependency.
        before: String,
    },
}

/// A finished trial.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Project.
    pub name: PackageName,
    /// Kind.
    pub kind: TrialKind,
    /// Result.
    pub ran: Ran,
    /// Duration, including the installation of the wheel.
    pub took: Duration,
}

/// Results of a build.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Wheels on the stage, in plan order.
    pub made: Vec<MadeWheel>,
    /// Projects without wheel: name, duration, reused.
    pub installed: Vec<(PackageName, Duration, bool)>,
    /// Passed tests and finished documentation.
    pub tried: Vec<Tried>,
    /// Inputs of each project, for provenance.
    pub inputs: BTreeMap<PackageName, ProjectInputs>,
    /// Checkout of each project.
    pub sources: BTreeMap<PackageName, Snapshot>,
    /// Missing results, in plan order.
    pub not_made: Vec<NotMade>,
}

impl Outcome {
    /// Returns true if the wheel of a project is missing.
    pub fn is_missing(&self, name: &str) -> bool {
        self.not_made.iter().any(|item| item.trial.is_none() && item.name.as_str() == name)
    }
}

/// Failure of the whole build.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Unsuitable Python.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// A package of the devel tree is neither built nor present.
    #[error("{} is neither built now nor in {}; projects are built against the devel package, which requires it", .pin, .dest.display())]
    Absent {
        /// Package, as `NAME==VERSION`.
        pin: String,
        /// Destination.
        dest: PathBuf,
    },
    /// A project that another one is built after is neither built now nor in the destination.
    #[error("`{project}` is built after `{before}`, which is neither built now nor in {}", .dest.display())]
    NotBefore {
        /// Project.
        project: String,
        /// Absent project or wheel.
        before: String,
        /// Destination.
        dest: PathBuf,
    },
    /// A compiler or CMake is missing.
    #[error("`{project}` is built with {program}, which does not exist")]
    NoProgram {
        /// Project.
        project: String,
        /// Path, or a name in `PATH`, with the variable that names it.
        program: String,
    },
    /// git cannot list the files of a checkout.
    #[error("cannot read a checkout")]
    Checkout(#[from] GitError),
    /// The destination cannot be written.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Another failure of the machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Checks Python, and that `dest` has the packages of artifacts that this build does not make.
/// Returns projects without their compiler, which the build skips; an error if that stops all.
pub fn check(
    plan: &Plan,
    settings: &Settings,
    dest: &Path,
) -> Result<MissingPrograms, ProjectError> {
    if let Some(pin) = wheelhouse::absent(plan, dest)? {
        return Err(ProjectError::Absent { pin, dest: dest.to_owned() });
    }
    if let Some((project, before)) = wheelhouse::not_before(plan, &settings.may_be_absent, dest)? {
        return Err(ProjectError::NotBefore { project, before, dest: dest.to_owned() });
    }
    if plan.projects.is_empty() && plan.wheels.is_empty() {
        return Ok(MissingPrograms::new());
    }
    tools(plan, settings)?;
    let missing = compilers::missing_programs(plan, settings);
    match compilers::of_all(plan, &missing) {
        Some((project, program)) => Err(ProjectError::NoProgram { project, program }),
        None => Ok(missing),
    }
}

fn tools(plan: &Plan, settings: &Settings) -> Result<tools::Tools, ToolsError> {
    let versions_of_projects = plan.projects.iter().flat_map(|project| {
        project.pythons.iter().map(|version| (project.name.as_str(), version.as_str()))
    });
    tools::Tools::find(&settings.python)?.with_interpreters(versions_of_projects)
}

/// Fetches missing prefetched wheels into `dest`. If any are unavailable, returns these and changes
/// nothing.
pub fn prefetch(
    plan: &Plan,
    settings: &Settings,
    dest: &Path,
    report: &(dyn Fn(Happened) + Sync),
) -> Result<Vec<NotMade>, ProjectError> {
    if plan.prefetched.is_empty() {
        return Ok(Vec::new());
    }
    let tools = tools(plan, settings)?;
    let stage = Stage::open(dest)?;
    prefetch::fill(plan, settings, &tools, &stage, report)
}

/// Builds projects and takes wheels. The wheels are on the returned stage, even after failures; the
/// caller moves them into place. A wheel that fails the gate is a failure.
///
/// Packages of artifacts and prefetched wheels must be in `dest` before. Logs are in `dest`/logs.
pub fn build(
    plan: &Plan,
    settings: &Settings,
    dest: &Path,
    gate: &Gate<'_>,
    report: &(dyn Fn(Happened) + Sync),
) -> Result<(Outcome, Stage), ProjectError> {
    let tools = tools(plan, settings)?;
    let stage = Stage::open(dest)?;
    let builder = Builder::new(plan, settings, &stage, tools, gate, report)?;
    builder.resolve();
    let after = builder.order();
    let ends =
        schedule::run(&after, settings.jobs, |index, processes| builder.make(index, processes));
    let outcome = builder.outcome(ends)?;
    Ok((outcome, stage))
}

fn wheel_of(file_name: &str) -> Option<String> {
    file_name.parse::<WheelName>().ok().map(|name| name.dist.normalized())
}

type WheelPaths = BTreeMap<PackageName, Vec<PathBuf>>;
