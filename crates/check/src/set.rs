use std::fmt;

use crate::{File, Needs, Package, Targets};

/// Packages of one set as installers leave them, whoever made them.
#[derive(Debug)]
pub struct Set<'a> {
    /// Packages; rules judge each with all others.
    pub packages: Vec<Package<'a>>,
    /// Systems of users, and which packages meet there.
    pub environment: &'a dyn Environment,
    /// Names of ISAs, if a manifest states them.
    pub targets: Option<&'a Targets>,
}

/// The place where a set is installed: stated by a manifest, or by requirements.
pub trait Environment: Sync {
    /// Returns whether the systems of users have a library.
    fn on_system(&self, library: &str) -> bool;

    /// Returns whether one environment can have both packages: there is one of each name.
    fn can_meet(&self, one: &Package<'_>, other: &Package<'_>) -> bool {
        one.name.is_some() && other.name.is_some() && one.name != other.name
    }
}

impl<F: Fn(&str) -> bool + Sync> Environment for F {
    fn on_system(&self, library: &str) -> bool {
        self(library)
    }
}

impl fmt::Debug for dyn Environment + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

impl<'a> Set<'a> {
    /// All binaries.
    pub fn binaries(&self) -> impl Iterator<Item = (&Package<'a>, &File<'a>, &Needs<'a>)> {
        let each = |package| {
            let binaries = Package::binaries(package);
            binaries.map(move |(file, needs)| (package, file, needs))
        };
        self.packages.iter().flat_map(each)
    }
}
