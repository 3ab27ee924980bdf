//! Where something is made, and what can go wrong there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::confined::Limits;
use super::process::{Log, ProcessError, Run};
use super::reach::Reach;
use super::used::Used;
use super::wheelhouse::in_directory;
use base::names::{Form, PackageName};
use base::regular;
use base::text::with_causes;
use wheel::package::Wheel;

/// What steps are called when they fail.
pub const MAKING_ENVIRONMENT: &str = "making an environment";
pub const INSTALLING: &str = "installing what it requires";
pub const BUILDING: &str = "building its wheel";

/// How many of a log's last lines are shown of a failure.
pub const TAIL: usize = 20;

/// A disk with less room than this is full: programs that fail leave a little.
const ROOM: u64 = 256 * 1024;

/// Where something is made, and how programs run there.
pub struct Workspace {
    /// A directory that nothing else is in.
    pub directory: PathBuf,
    /// What programs see.
    pub variables: BTreeMap<String, OsString>,
    /// What takes all that they write.
    pub log: Log,
    /// What was installed and compiled with.
    pub used: Used,
    /// What they may do; all that the user may, where it is not said.
    pub reach: Option<Reach>,
}

/// Why something could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Failed {
    reason: String,
}

impl Failed {
    /// For a reason in words.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// The same, with the reason that what failed cannot always write down: the disk of its directory is full.
    pub fn or_full(self, directory: &Path) -> Self {
        match rustix::fs::statvfs(directory) {
            Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM => Self::new(format!(
                "{}, for the disk of {} is full",
                self.reason,
                directory.display()
            )),
            _ => self,
        }
    }

    /// The same, for one of several versions of Python.
    pub fn of(self, version: &str) -> Self {
        Self::new(format!("for Python {version}, {}", self.reason))
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::new(with_causes(&error))
    }
}

impl From<ProcessError> for Failed {
    fn from(error: ProcessError) -> Self {
        Self::new(with_causes(&error))
    }
}

impl Workspace {
    /// Runs a program for a step of rockpack, which may fetch; `doing` says what for, as `installing its
    /// requirements`.
    pub fn run(&self, doing: &str, command: &[OsString]) -> Result<(), Failed> {
        // Python imports modules of the directory that it starts in, and no project writes into this one.
        let directory = Path::new("/");
        self.run_within(self.reach.as_ref().map(Reach::fetching), directory, doing, command)
    }

    /// Runs a program of the project in a directory.
    pub fn run_in(
        &self,
        directory: &Path,
        doing: &str,
        command: &[OsString],
    ) -> Result<(), Failed> {
        let limits = self.building().map_err(Failed::new)?;
        self.run_within(limits.as_ref(), directory, doing, command)
    }

    /// The limits of the project's steps; `None` if they are not confined.
    ///
    /// # Errors
    /// Fails if a variable names a compiler cache that cannot be shared.
    pub fn building(&self) -> Result<Option<Limits>, String> {
        self.reach.as_ref().map(|reach| reach.building(&self.variables)).transpose()
    }

    fn run_within(
        &self,
        limits: Option<&Limits>,
        directory: &Path,
        doing: &str,
        command: &[OsString],
    ) -> Result<(), Failed> {
        let environment = &self.variables;
        let done = self.log.run(&Run { command, directory, environment, limits });
        done.map_err(|e| match e {
            // The whole command is in the log.
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

/// What a failure may come of.
const CONFINED: &str = "; it may write below its own directory alone, unless --unconfined is given, and has no network without a `network` line";
/// What programs say, in any case, that may not write.
const DENIED: &str = "ermission denied";

impl Workspace {
    /// Whether a program may have failed because it may not write elsewhere.
    fn was_confined(&self) -> bool {
        self.reach.is_some() && self.log.tail(TAIL).iter().any(|line| line.contains(DENIED))
    }
}

/// The wheels in a directory, which have to be of distribution `name`, sorted.
pub fn wheels_in(directory: &Path, name: &PackageName) -> Result<Vec<PathBuf>, Failed> {
    let wheels = in_directory(directory, |file| Form::of_file(file) == Some(Form::Wheel))?;
    for wheel in &wheels {
        regular::check(wheel, &fs::symlink_metadata(wheel)?)?;
        let opened = Wheel::open(wheel).map_err(|e| Failed::new(with_causes(&e)))?;
        let found = opened.name().dist.normalized();
        if found != name.as_str() {
            return Err(Failed::new(format!(
                "{} is of the distribution `{found}`, not `{name}`",
                opened.name()
            )));
        }
    }
    Ok(wheels)
}

/// The one wheel in a directory, which has to be of distribution `name`.
pub fn wheel_in(directory: &Path, name: &PackageName) -> Result<PathBuf, Failed> {
    let mut wheels = wheels_in(directory, name)?;
    match wheels.len() {
        0 => Err(Failed::new("its build left no wheel")),
        1 => Ok(wheels.remove(0)),
        count => Err(Failed::new(format!("its build left {count} wheels, where one is expected"))),
    }
}
