//! Directory and environment in which an item is made, and its failures.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fs_err as fs;

use super::confined::Limits;
pub(crate) use super::failed::Failed;
use super::lock;
use super::process::{Log, ProcessError, Run};
use super::reach::Reach;
use super::used::Used;
use super::variables;
use super::wheelhouse::in_directory;
use base::names::{Form, PackageName};
use base::regular;
use base::text::with_causes;
use wheel::package::Wheel;

/// Names of steps in messages.
pub(crate) const MAKING_ENVIRONMENT: &str = "making an environment";
pub(crate) const INSTALLING: &str = "installing its requirements";
pub(crate) const BUILDING: &str = "building its wheel";

pub const TAIL: usize = 20;

/// Working directory of rockpack's steps: Python imports from it, and no project can write into it.
const ROOT: &str = "/";

pub(crate) struct Workspace {
    pub directory: PathBuf,
    pub variables: BTreeMap<String, OsString>,
    pub log: Log,
    pub used: Used,
    /// Lock of the requirements.
    pub lock: Option<lock::ItemLock>,
    /// Constraints of requirements.
    pub constraints: Vec<String>,
    /// `None` for all rights of the user.
    pub reach: Option<Reach>,
    /// Requirements that were downloaded together.
    pub downloads: Mutex<BTreeSet<Vec<String>>>,
}

impl Workspace {
    /// Workspace of a part of the item, without variables and reach.
    pub fn inner(&self) -> Self {
        Self {
            directory: self.directory.clone(),
            variables: BTreeMap::new(),
            log: self.log.clone(),
            used: Used::default(),
            lock: self.lock.clone(),
            constraints: self.constraints.clone(),
            reach: None,
            downloads: Mutex::default(),
        }
    }

    /// Returns true if these requirements were downloaded together.
    pub fn has_downloaded(&self, lines: &[String]) -> bool {
        self.downloads.lock().unwrap_or_else(PoisonError::into_inner).contains(lines)
    }

    pub fn note_download(&self, lines: Vec<String>) {
        self.downloads.lock().unwrap_or_else(PoisonError::into_inner).insert(lines);
    }

    /// Runs a step of rockpack, without network access.
    pub fn run(&self, doing: &str, command: &[OsString]) -> Result<(), Failed> {
        self.run_with(&self.variables, doing, command)
    }

    /// Runs a step of rockpack with other variables.
    pub(crate) fn run_with(
        &self,
        variables: &BTreeMap<String, OsString>,
        doing: &str,
        command: &[OsString],
    ) -> Result<(), Failed> {
        let limits = self.reach.as_ref().map(Reach::installing);
        self.run_within(limits, ROOT.as_ref(), variables, doing, command)
    }

    /// Runs a download of rockpack, with network access, and without the variables of projects:
    /// `LD_PRELOAD` would run their code.
    pub(crate) fn fetch(&self, doing: &str, command: &[OsString]) -> Result<(), Failed> {
        let limits = self.reach.as_ref().map(Reach::fetching);
        self.run_within(limits, ROOT.as_ref(), &self.fetching(), doing, command)
    }

    fn fetching(&self) -> BTreeMap<String, OsString> {
        let caller =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        variables::of_fetching(variables::base(caller), &self.variables)
    }

    /// Runs git, with network access. git starts programs, but none of a repository.
    pub(crate) fn clone_repository(&self, doing: &str, command: &[OsString]) -> Result<(), Failed> {
        let limits =
            self.reach.as_ref().map(|reach| Limits { alone: false, ..reach.fetching().clone() });
        self.run_within(limits.as_ref(), ROOT.as_ref(), &self.fetching(), doing, command)
    }

    pub(crate) fn run_in(
        &self,
        directory: &Path,
        doing: &str,
        command: &[OsString],
    ) -> Result<(), Failed> {
        let limits = self.building().map_err(Failed::new)?;
        self.run_within(limits.as_ref(), directory, &self.variables, doing, command)
    }

    /// Limits of project steps; `None` without confinement. Fails for a compiler cache
    /// that cannot be shared.
    pub(crate) fn building(&self) -> Result<Option<Limits>, String> {
        self.reach.as_ref().map(|reach| reach.building(&self.variables)).transpose()
    }

    fn run_within(
        &self,
        limits: Option<&Limits>,
        directory: &Path,
        environment: &BTreeMap<String, OsString>,
        doing: &str,
        command: &[OsString],
    ) -> Result<(), Failed> {
        let result = self.log.run(&Run { command, directory, environment, limits });
        result.map_err(|e| match e {
            // The log has the whole command.
            ProcessError::Status { status, .. } => {
                let hint = if self.was_confined() { CONFINED } else { "" };
                Failed::new(format!("{doing} ended with {status}{hint}"))
            }
            ProcessError::Start { .. } | ProcessError::Io(_) => {
                Failed::new(format!("{doing}: {}", with_causes(&e)))
            }
        })
    }
}

const CONFINED: &str = "; without --unconfined it may write only below its own directory, and it has no network without a `network` line";
/// Parts of messages that programs print at a wall.
const DENIED: [&str; 5] = [
    "ermission denied",
    "peration not permitted",
    "ead-only file system",
    "onnection refused",
    "etwork is unreachable",
];

impl Workspace {
    fn was_confined(&self) -> bool {
        self.reach.is_some()
            && self
                .log
                .tail(TAIL)
                .iter()
                .any(|line| DENIED.iter().any(|words| line.contains(words)))
    }
}

/// Sorted wheels; fails for other distributions than `name`.
pub(crate) fn wheels_in(directory: &Path, name: &PackageName) -> Result<Vec<PathBuf>, Failed> {
    let wheels = in_directory(directory, |file| Form::of_file(file) == Some(Form::Wheel))?;
    for wheel in &wheels {
        regular::check(wheel, &fs::symlink_metadata(wheel)?)?;
        let opened = Wheel::open(wheel).map_err(|e| Failed::new(with_causes(&e)))?;
        let distribution = opened.name().dist.normalized();
        if distribution != name.as_str() {
            return Err(Failed::new(format!(
                "{} is of the distribution `{distribution}`, not `{name}`",
                opened.name()
            )));
        }
    }
    Ok(wheels)
}

/// Copies wheels into `into`, where no project writes: a link or an open file of a project leads to
/// the original. Returns the copies, which are checked again.
pub(crate) fn copy_wheels(
    wheels: &[PathBuf],
    into: &Path,
    name: &PackageName,
) -> Result<Vec<PathBuf>, Failed> {
    if into.is_dir() {
        fs::remove_dir_all(into)?;
    }
    fs::create_dir_all(into)?;
    for wheel in wheels {
        let mut copy = fs::File::create_new(into.join(wheel.file_name().unwrap_or_default()))?;
        io::copy(&mut regular::open(wheel)?, &mut copy)?;
    }
    wheels_in(into, name)
}

pub(crate) fn wheel_in(directory: &Path, name: &PackageName) -> Result<PathBuf, Failed> {
    let mut wheels = wheels_in(directory, name)?;
    match wheels.len() {
        0 => Err(Failed::new("its build left no wheel")),
        1 => Ok(wheels.remove(0)),
        count => Err(Failed::new(format!("its build left {count} wheels instead of one"))),
    }
}
