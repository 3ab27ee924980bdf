//! Walls around project code that this machine has.

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::channel::Task;
use super::confined::{Holds, Limits, holds};
use super::filter::{self, Sockets};
use super::runner::{End, Kind};
use super::walled::walled;

/// Walls of this machine.
#[derive(Debug, Clone)]
pub struct Walls {
    /// Reason without namespaces.
    pub without_namespaces: Option<String>,
    /// Limits of Landlock.
    pub landlock: Holds,
    /// Filters of system calls.
    pub filters: bool,
}

impl Walls {
    /// Tries them once, with a program that does nothing.
    pub fn probe() -> &'static Self {
        static WALLS: OnceLock<Walls> = OnceLock::new();
        WALLS.get_or_init(|| Self {
            without_namespaces: without_namespaces(),
            landlock: holds(),
            filters: std::thread::spawn(|| filter::restrict(Sockets::All))
                .join()
                .is_ok_and(Result::unwrap_or_default),
        })
    }

    pub(crate) fn kind(&self) -> Kind {
        if self.without_namespaces.is_none() { Kind::Namespaces } else { Kind::Alone }
    }

    /// Names of the walls, for events.
    pub fn names(&self) -> Vec<&'static str> {
        let landlock = match self.landlock {
            Holds::Nothing => None,
            Holds::Writing => Some("landlock-files"),
            Holds::Network => Some("landlock-network"),
            Holds::Signals => Some("landlock"),
        };
        let namespaces = self.without_namespaces.is_none().then_some("namespaces");
        let filters = self.filters.then_some("seccomp");
        [namespaces, landlock, filters].into_iter().flatten().collect()
    }
}

/// One line for people.
impl fmt::Display for Walls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        write!(f, "{}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })?;
        match &self.without_namespaces {
            Some(reason) => write!(f, "; no namespaces: {reason}"),
            None => Ok(()),
        }
    }
}

fn without_namespaces() -> Option<String> {
    let workspace = PathBuf::from("/dev/null");
    let limits = Limits { workspace, writable: Vec::new(), network: false, alone: false };
    let command = ["/bin/sh", "-c", ":"].map(Into::into).into();
    let (directory, sockets) = ("/".into(), Vec::new());
    let task = Task { command, directory, environment: Vec::new(), limits, sockets };
    let silent = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(())
    };
    match walled(Kind::Namespaces, &task, silent) {
        Ok(End::Ended(status)) if status.success() => None,
        Ok(End::Ended(status)) => Some(format!("a program in them ended with {status}")),
        Ok(End::Failed(reason)) => Some(reason),
        Err(error) => Some(error.to_string()),
    }
}
