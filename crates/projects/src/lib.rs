//! Builds Python projects through PEP 517 and takes finished wheels: what a plan says of both.
//!
//! Each project is built of a copy of its checkout, in an environment with what it requires; of
//! what was built before it, that is exactly the wheels it is declared `after`, and the packages
//! of artifacts. Projects that don't wait for each other are built at the same time. One that
//! fails stops those that wait for it and no others, and leaves its log.
//!
//! The same sources and tools give the same bytes: builds see a fixed time, a small and fixed
//! environment, and paths that compilers write down are replaced by ones that are always the same.
//!
//! Takes checkouts and the packages that they need; returns their wheels. Never lets a build write outside of its
//! directories.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::names::{PackageName, RelPath};
use build::gate::Gate;
use build::provenance::ProjectInputs;
use plan::Plan;
use wheel::archive::{Stage, StageError};
use wheel::package::WheelName;

mod builder;
mod checkout;
mod checkouts;
mod confined;
mod content;
mod devel;
mod dirty;
mod fingerprint;
mod finish;
mod git;
mod git_program;
mod kept;
mod native;
mod prefetch;
mod private;
mod process;
mod project;
mod reach;
mod recorded;
mod redacted;
mod repair;
mod schedule;
mod snapshot;
mod survey;
mod taken;
mod tools;
mod tree;
mod trial;
mod used;
mod variables;
mod wheelhouse;
mod workspace;

use builder::Builder;
use schedule::End;

pub use checkout::copy_checkout;
pub use checkouts::{CheckoutState, State, checkouts};
pub use confined::{Holds, holds};
pub use content::{Content, Named, Repository};
pub use git_program::GitError;
pub use snapshot::{Snapshot, snapshots};
pub use survey::survey;
pub use tools::ToolsError;
pub use trial::{Ran, TrialKind};

/// What a build of projects needs beside the plan.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The root of all sources; absolute.
    pub sources: Option<PathBuf>,
    /// The Python that builds: a path, or a name that `PATH` leads to.
    pub python: PathBuf,
    /// How many projects are built at once, and how many processes they start together; at least 1.
    pub jobs: usize,
    /// Nothing is fetched: what builds require is in pip's own find-links, or was built before.
    pub offline: bool,
    /// What an earlier build made of the same is made again.
    pub anew: bool,
    /// Builds of projects may write anywhere, and not only into directories of their own.
    pub unconfined: bool,
    /// Directories that no build of a project may change, whatever variables name them as caches.
    pub protected: Vec<PathBuf>,
    /// What is run beside the wheels of projects.
    pub trials: Vec<TrialKind>,
}

/// What happens meanwhile. Told from any thread.
#[derive(Debug, Clone)]
pub enum Happened {
    /// Work on this has begun.
    Started(String),
    /// It is done: its wheels, and how long it took.
    Finished(String, Vec<String>, Duration),
    /// It is as an earlier build made it, of the same: nothing was done.
    Kept(String),
    /// It failed.
    Failed(String),
}

/// A wheel that was made or taken.
#[derive(Debug, Clone)]
pub struct MadeWheel {
    /// The project, or the `wheel` node.
    pub name: PackageName,
    /// Where it is, below the destination.
    pub path: RelPath,
    /// Its size in bytes.
    pub size: u64,
    /// How long its project took.
    pub took: Duration,
    /// An earlier build made it, of the same.
    pub kept: bool,
}

/// Something that was to be made, and is not.
#[derive(Debug, Clone)]
pub struct NotMade {
    /// The project or the wheel; what is not one of them has failed for it.
    pub name: PackageName,
    /// What failed beside its wheel, which is there; `None` where that is not.
    pub trial: Option<TrialKind>,
    /// Why not.
    pub why: Why,
}

/// Why something was not made.
#[derive(Debug, Clone)]
pub enum Why {
    /// A step of its own failed.
    Failed {
        /// Which, and how it ended.
        reason: String,
        /// Where all that its steps wrote is kept, below the destination.
        log: Option<RelPath>,
        /// The last lines of that.
        tail: Vec<String>,
    },
    /// Something that comes before it was not made.
    Waited {
        /// What.
        before: String,
    },
}

/// Commands that were run beside the wheel of a project.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The project.
    pub name: PackageName,
    /// What they are for.
    pub kind: TrialKind,
    /// What came of them.
    pub ran: Ran,
    /// How long it took, with the installation of the wheel.
    pub took: Duration,
}

/// What a build of projects made.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Wheels that are on the stage, in the plan's order.
    pub made: Vec<MadeWheel>,
    /// What made no wheel, how long it took, and whether an earlier build made it of the same.
    pub installed: Vec<(PackageName, Duration, bool)>,
    /// Tests that passed, and documentation that was made.
    pub tried: Vec<Tried>,
    /// The inputs of each project that was made, for its provenance.
    pub inputs: BTreeMap<PackageName, ProjectInputs>,
    /// The checkout of each project.
    pub sources: BTreeMap<PackageName, Snapshot>,
    /// What is not there, in the plan's order.
    pub not_made: Vec<NotMade>,
}

impl Outcome {
    /// Whether the wheel of a project was to be made, and is not.
    pub fn lacks(&self, name: &str) -> bool {
        self.not_made.iter().any(|it| it.trial.is_none() && it.name.as_str() == name)
    }
}

/// Why nothing could be built at all.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The Python that was to build cannot.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// A package that the devel tree is made of is neither built nor there.
    #[error("{} is neither built now nor in {}, and projects are built against the devel package, which requires it", .pin, .dest.display())]
    Absent {
        /// It, as `NAME==VERSION`.
        pin: String,
        /// The destination.
        dest: PathBuf,
    },
    /// git does not say which files a checkout has.
    #[error("cannot read a checkout")]
    Checkout(#[from] GitError),
    /// The destination cannot be written.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Something else of the machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether the machine can do what `plan` says of projects and wheels: it has a Python for that, and `dest` the
/// packages that projects are built against, where this build does not make them.
///
/// # Errors
/// When a package is not there, or Python does not run, or lacks what a build needs.
pub fn check(plan: &Plan, settings: &Settings, dest: &Path) -> Result<(), ProjectError> {
    if let Some(pin) = wheelhouse::absent(plan, dest)? {
        return Err(ProjectError::Absent { pin, dest: dest.to_owned() });
    }
    if !plan.projects.is_empty() || !plan.wheels.is_empty() {
        tools(plan, settings)?;
    }
    Ok(())
}

/// What builds the projects of a plan, with the interpreters of all versions that they are built for.
fn tools(plan: &Plan, settings: &Settings) -> Result<tools::Tools, ToolsError> {
    let wanted = plan.projects.iter().flat_map(|project| {
        project.pythons.iter().map(|version| (project.name.as_str(), version.as_str()))
    });
    tools::Tools::find(&settings.python)?.with_interpreters(wanted)
}

/// Brings the wheels of others that projects are built with into `dest`, where they are not yet. Gives what
/// cannot be had: all of it, and then nothing new is put in place.
///
/// # Errors
/// When nothing can be fetched at all.
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

/// Builds and takes what `plan` says. The wheels are on the stage that comes with the outcome, for the
/// caller to put in place, in spite of failures. A wheel that does not pass the gate is a failure.
///
/// The packages of artifacts and the wheels of others have to be in `dest` already. Logs go to `dest`/logs.
///
/// # Errors
/// When nothing can be built at all. That something failed is part of the outcome.
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
    let after = builder.order();
    let ends =
        schedule::run(&after, settings.jobs, |index, processes| builder.make(index, processes));
    let outcome = builder.outcome(ends)?;
    Ok((outcome, stage))
}

/// The name of the distribution that a wheel's file is of, as indexes compare it.
fn wheel_of(file_name: &str) -> Option<String> {
    file_name.parse::<WheelName>().ok().map(|name| name.dist.normalized())
}

/// The wheels that each project or node has made so far.
type Made = BTreeMap<PackageName, Vec<PathBuf>>;
