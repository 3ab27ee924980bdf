//! Packages built from sources or taken as finished wheels.

use std::str::FromStr;

use super::{Glob, SplitRule};
use crate::reader::Reason;
use base::names::{PackageName, RelPath};
use base::source::{Place, Spanned};
use base::version::Version;
use manifest_derive::Line;

pub mod lines;
pub mod project;
pub mod wheel;

use lines::{Named, Pair};
use project::{EveryProject, EveryProjectLine, NativeProject, PythonProject, SourceProject};
use wheel::{Prefetch, PrefetchLine, ReadyWheel, Wheel, WheelLine};

/// Source projects and finished wheels, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Python {
    /// Projects that are built, into wheels or directories.
    pub projects: Vec<SourceProject>,
    /// Finished wheels that are taken.
    pub wheels: Vec<ReadyWheel>,
    /// Finished wheels that are split.
    pub splits: Vec<SplitRule>,
    /// Wheels of others, for builds.
    pub prefetched: Vec<Prefetch>,
    /// Origins of checkouts.
    pub checkouts: Vec<Checkout>,
    /// Named values of settings.
    pub variables: Vec<Pair<PackageName>>,
    /// Lines for every project.
    pub every: EveryProject,
}

#[derive(Line)]
pub(crate) struct PythonLines {
    #[child(of = PythonProject)]
    projects: Vec<SourceProject>,
    #[child(of = NativeProject)]
    natives: Vec<SourceProject>,
    #[child(of = WheelLine)]
    wheels: Vec<Wheel>,
    #[child(of = PrefetchLine)]
    prefetched: Vec<Prefetch>,
    #[child]
    checkouts: Vec<Checkout>,
    #[child(of = Named)]
    variables: Vec<Pair<PackageName>>,
    #[child(of = EveryProjectLine, default)]
    every: EveryProject,
}

impl From<PythonLines> for Python {
    /// Puts native projects first: none of them is built after a Python project.
    fn from(lines: PythonLines) -> Self {
        let (mut wheels, mut splits) = (Vec::new(), Vec::new());
        for wheel in lines.wheels {
            match wheel {
                Wheel::Ready(wheel) => wheels.push(wheel),
                Wheel::Split(rule) => splits.push(rule),
            }
        }
        Self {
            projects: lines.natives.into_iter().chain(lines.projects).collect(),
            wheels,
            splits,
            prefetched: lines.prefetched,
            checkouts: lines.checkouts,
            variables: lines.variables,
            every: lines.every,
        }
    }
}

impl Python {
    /// Returns the place of a project or a wheel.
    pub fn place(&self, name: &PackageName) -> Option<&Place> {
        self.names().find(|candidate| candidate.value == *name).map(|name| &name.place)
    }

    /// Returns the names of projects and of wheels, taken, split or prefetched.
    pub fn names(&self) -> impl Iterator<Item = &Spanned<PackageName>> {
        let wheels = self.wheels.iter().map(|wheel| &wheel.name);
        let prefetched = self.prefetched.iter().map(|prefetch| &prefetch.name);
        let splits = self.splits.iter().map(|split| &split.name);
        let projects = self.projects.iter().map(|project| &project.name);
        projects.chain(wheels).chain(splits).chain(prefetched)
    }

    /// Returns a project by its name.
    pub fn project(&self, name: &PackageName) -> Option<&SourceProject> {
        self.projects.iter().find(|project| project.name.value == *name)
    }

    /// Returns the origin of a directory of sources.
    pub fn checkout(&self, directory: &RelPath) -> Option<&Checkout> {
        self.checkouts.iter().find(|checkout| checkout.directory.value == *directory)
    }
}

/// Names the origin of a checkout; `rockpack project` compares it with the directory, and clones
/// missing ones.
#[derive(Debug, Clone, Line)]
#[line(
    "source",
    check(lines::check_branch(branch)),
    example = r#"source "bindings" git="https://example.org/bindings" branch="v{major}.{minor}""#
)]
pub struct Checkout {
    /// The checkout, below the directory of `--sources`.
    #[arg("DIRECTORY", "a directory")]
    pub directory: Spanned<RelPath>,
    /// The address for `git clone`.
    #[prop("URL")]
    pub git: String,
    /// Branch of a version, with {major}, {minor} and {patch} for its numbers; without it, the
    /// default branch.
    #[prop("BRANCH")]
    pub branch: Option<Spanned<String>>,
    /// Its projects count commits for their versions: a shallow clone is refused, and a detached
    /// HEAD gets the branch's name in the copy.
    #[prop]
    pub history: bool,
    /// Program of the checkout that `rockpack project clone` runs in a new clone, with the rights of
    /// the user.
    #[prop("FILE")]
    pub init: Option<RelPath>,
}

/// Places for a version's numbers in a branch.
const NUMBERS: [&str; 3] = ["{major}", "{minor}", "{patch}"];

impl Checkout {
    /// Returns the branch for a version (`release/7.2`).
    pub fn branch_of(&self, version: &Version) -> Option<String> {
        let parts = NUMBERS.into_iter().zip(version.numbers());
        let fill =
            |text: String, (place, number): (&str, u64)| text.replace(place, &number.to_string());
        self.branch.as_ref().map(|branch| parts.fold(branch.value.clone(), fill))
    }

    /// Returns true if each version has a branch of its own.
    pub fn has_versions(&self) -> bool {
        self.branch
            .as_ref()
            .is_some_and(|branch| NUMBERS.iter().any(|number| branch.value.contains(number)))
    }

    /// Returns the branches that a version can have, the expected one first: repositories have
    /// `release/5.6` for 5.6.0. Without a version, returns the branch of all.
    pub fn branches_of(&self, version: Option<&Version>) -> Vec<String> {
        let Some(version) = version else {
            let branch = self.branch.as_ref().filter(|_| !self.has_versions());
            return branch.map(|branch| branch.value.clone()).into_iter().collect();
        };
        let mut branches = Vec::from_iter(self.branch_of(version));
        if let Some(branch) = self.branch.as_ref().filter(|_| version.numbers()[2] == 0) {
            let value = branch.value.replace(".{patch}", "");
            let place = branch.place.clone();
            let short = Self { branch: Some(Spanned { value, place }), ..self.clone() };
            branches.extend(short.branch_of(version).filter(|name| !branches.contains(name)));
        }
        branches
    }
}

/// Libraries: `a,b`, or `^a,b` for all but these; names can have `*` and `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Names or patterns.
    pub names: Vec<String>,
    /// These are left out, rather than taken.
    pub without: bool,
}

impl Selection {
    /// Parses a selection.
    pub fn parse(text: &str) -> Self {
        let (excludes, list) = text.strip_prefix('^').map_or((false, text), |list| (true, list));
        let names = list.split(',').map(|name| name.trim().to_owned());
        Self { names: names.filter(|name| !name.is_empty()).collect(), without: excludes }
    }

    /// Returns the selected libraries in order.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn among(&self, available: &[String]) -> Result<Vec<String>, String> {
        let matches = |pattern: &str, name: &str| {
            let glob = Glob::new(pattern).ok();
            let name: Option<RelPath> = name.parse().ok();
            glob.zip(name).is_some_and(|(glob, name)| glob.matches(&name))
        };
        let is_unknown = |pattern: &&String| !available.iter().any(|name| matches(pattern, name));
        if let Some(unknown) = self.names.iter().find(is_unknown) {
            return Err(unknown.clone());
        }
        let is_chosen = |name: &&String| {
            self.names.iter().any(|pattern| matches(pattern, name)) != self.without
        };
        Ok(available.iter().filter(is_chosen).cloned().collect())
    }
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.without { "^" } else { "" })?;
        f.write_str(&self.names.join(","))
    }
}

/// Version of Python in an interpreter's name: `3.12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonVersion(String);

impl std::fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Invalid version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version of Python")]
pub struct PythonVersionError(pub String);

impl PythonVersion {
    /// Returns the version as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PythonVersion {
    type Err = PythonVersionError;

    fn from_str(text: &str) -> Result<Self, PythonVersionError> {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        match text.split_once('.') {
            Some(("3", minor)) if digits(minor) && minor.len() < 4 => Ok(Self(text.to_owned())),
            _ => Err(PythonVersionError(text.to_owned())),
        }
    }
}

impl Reason for PythonVersionError {
    fn message(&self) -> String {
        self.to_string()
    }

    fn label(&self) -> String {
        "write it like `3.12`: the interpreter is `python3.12`".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::source::Source;

    #[test]
    fn a_branch_has_the_numbers_of_the_version() {
        let place = Source::new("packages.kdl", "").at(0..0);
        let branch = Some(Spanned::new("rel-{major}.{minor}.{patch}".to_owned(), place.clone()));
        let directory = Spanned::new("a".parse().unwrap(), place);
        let checkout =
            Checkout { directory, git: String::new(), branch, history: false, init: None };
        let branch_of = |version: &str| checkout.branch_of(&version.parse().unwrap()).unwrap();
        assert_eq!([branch_of("7.2.1rc2.dev3"), branch_of("10")], ["rel-7.2.1", "rel-10.0.0"]);
        let branches_of = |version: &str| checkout.branches_of(Some(&version.parse().unwrap()));
        assert_eq!(branches_of("5.6"), ["rel-5.6.0", "rel-5.6"]);
        assert_eq!(branches_of("5.6.1"), ["rel-5.6.1"]);
    }

    #[test]
    fn selects_available_libraries() {
        let libraries = ["fft", "rand", "blas", "blaslt"].map(str::to_owned);
        let selected =
            |text: &str| Selection::parse(text).among(&libraries).map(|names| names.join(","));
        assert_eq!(selected("*").unwrap(), "fft,rand,blas,blaslt");
        assert_eq!(selected("blas*,fft").unwrap(), "fft,blas,blaslt");
        assert_eq!(selected("^blas?t,fft").unwrap(), "rand,blas");
        assert_eq!(selected("^fft,sparse").unwrap_err(), "sparse");
    }
}
