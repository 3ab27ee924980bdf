//! Packages that are made of sources or come finished, beside those of artifacts.

use std::str::FromStr;

use super::setting::{Filling, Setting};
use super::{Glob, SplitRule};
use base::names::{self, PackageName, RelPath};
use base::source::{Place, Spanned};
use base::version::Version;

/// What is declared beside the packages of artifacts, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Python {
    /// Source projects that are built, into wheels or into directories that others are built against.
    pub projects: Vec<SourceProject>,
    /// Finished wheels that are taken.
    pub wheels: Vec<ReadyWheel>,
    /// Finished wheels that are split.
    pub splits: Vec<SplitRule>,
    /// Wheels that others provide, for projects to be built with.
    pub prefetched: Vec<Prefetch>,
    /// Where checkouts come from.
    pub checkouts: Vec<Checkout>,
    /// Values that have a name, by which settings use them.
    pub variables: Vec<(Spanned<PackageName>, Spanned<Setting>)>,
    /// What every project is given, unless it says otherwise itself.
    pub every: EveryProject,
}

/// `every-project { … }`: what all projects are given alike.
#[derive(Debug, Clone, Default)]
pub struct EveryProject {
    /// Environment variables.
    pub environment: Vec<(Spanned<String>, Spanned<Setting>)>,
    /// Variables of the caller's environment.
    pub pass: Vec<String>,
}

impl Python {
    /// Where a project or a wheel is declared.
    pub fn place(&self, name: &PackageName) -> Option<&Place> {
        self.names().find(|other| other.value == *name).map(|name| &name.place)
    }

    /// The names of projects, of wheels that are taken and of those that are prefetched.
    pub fn names(&self) -> impl Iterator<Item = &Spanned<PackageName>> {
        let wheels = self.wheels.iter().map(|wheel| &wheel.name);
        let prefetched = self.prefetched.iter().map(|prefetch| &prefetch.name);
        let splits = self.splits.iter().map(|split| &split.name);
        let projects = self.projects.iter().map(|project| &project.name);
        projects.chain(wheels).chain(splits).chain(prefetched)
    }

    /// A project by its name.
    pub fn project(&self, name: &PackageName) -> Option<&SourceProject> {
        self.projects.iter().find(|project| project.name.value == *name)
    }

    /// Where a directory of sources comes from, when that is said.
    pub fn checkout(&self, directory: &RelPath) -> Option<&Checkout> {
        self.checkouts.iter().find(|checkout| checkout.directory.value == *directory)
    }
}

/// `source "hip-python" git="…" branch="…"`: where a checkout comes from.
#[derive(Debug, Clone)]
pub struct Checkout {
    /// Its directory, below the root of all sources.
    pub directory: Spanned<RelPath>,
    /// The address that git clones.
    pub git: String,
    /// The branch, with places for the version: `{major}`, `{minor}` and `{patch}`.
    pub branch: Option<Spanned<String>>,
    /// Whether versions are counted from its history, so that a part of it gives wrong ones.
    pub history: bool,
}

impl Checkout {
    /// The branch for a version: `release/7.2` for 7.2.0.
    pub fn branch_of(&self, version: &Version) -> Option<String> {
        let parts = ["{major}", "{minor}", "{patch}"].into_iter().zip(version.numbers());
        let fill =
            |text: String, (place, number): (&str, u64)| text.replace(place, &number.to_string());
        self.branch.as_ref().map(|branch| parts.fold(branch.value.clone(), fill))
    }
}

/// `python-project "hip-python" optional="…" { … }`: a source project that is built through PEP 517, or
/// `native-project "rocgraph" { … }`: one that is installed into a directory.
#[derive(Debug, Clone)]
pub struct SourceProject {
    /// The name of the distribution it makes, as indexes compare it (PEP 503), and where it is declared.
    pub name: Spanned<PackageName>,
    /// Where it can be, below the root of all sources; the first that is there counts.
    pub sources: Vec<ProjectSource>,
    /// What its checkout has to have.
    pub needs: Vec<Need>,
    /// Files that are built though git ignores them or does not have them.
    pub include_ignored: Vec<Spanned<Glob>>,
    /// What has to be built before, to be installed where it is built.
    pub after: Vec<Spanned<PackageName>>,
    /// Commands that prepare the checkout.
    pub run: Vec<Command>,
    /// Requirements of the build beside those that the project names itself (PEP 508).
    pub build_requires: Vec<Requirement>,
    /// Environment variables.
    pub environment: Vec<(Spanned<String>, Spanned<Setting>)>,
    /// The selection of libraries, which is an environment variable too.
    pub libraries: Option<Libraries>,
    /// Variables of the caller's environment that the build sees too.
    pub pass: Vec<String>,
    /// What is handed to the build backend (PEP 517, `config_settings`).
    pub config_settings: Vec<(Spanned<String>, Spanned<Setting>)>,
    /// The versions of Python that it is built for, a wheel each; of none, that of the Python that builds.
    pub pythons: Vec<Spanned<PythonVersion>>,
    /// Built in an environment of its own, rather than in that of the Python that builds.
    pub isolated: bool,
    /// Its wheel gets the libraries that it needs of native projects.
    pub repair: bool,
    /// Its build, its tests and its documentation may open connections.
    pub network: bool,
    /// Why its sources can be absent.
    pub optional: Option<String>,
    /// How it is installed into a directory, where that is what it makes.
    pub native: Option<Native>,
    /// `test` lines with `test-requires`: what is run against its installed wheel.
    pub tests: Trial,
    /// `docs` lines with `docs-requires`: what makes its documentation, beside its installed wheel.
    pub docs: Trial,
}

/// Commands for an environment in which a project's wheel is installed.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// What they need beside the wheel (PEP 508).
    pub requires: Vec<Requirement>,
    /// The commands.
    pub commands: Vec<Command>,
}

/// `source "DIRECTORY" subdirectory="…"` in a project.
#[derive(Debug, Clone)]
pub struct ProjectSource {
    /// Its checkout, below the root of all sources.
    pub checkout: Spanned<RelPath>,
    /// Where the project is in its checkout, when it isn't the checkout itself.
    pub subdirectory: Option<RelPath>,
}

impl ProjectSource {
    /// Where the project is, below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.checkout.value.clone(), |below| self.checkout.join(below))
    }
}

/// `needs "FILE" "FILE" help="…"`: files that its checkout has to have, of which one is enough.
#[derive(Debug, Clone)]
pub struct Need {
    /// The files, below its checkout.
    pub files: Vec<RelPath>,
    /// How to get one.
    pub help: Option<String>,
}

/// `run "PROGRAM" "ARGUMENT" if="FILE"`, `test "PROGRAM" "ARGUMENT" if="FILE" needs="/dev/…"`.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments; of a script, its arguments.
    pub words: Vec<Spanned<Setting>>,
    /// The shell script to run in place of a program.
    pub script: Option<RunScript>,
    /// It runs where the checkout has this.
    pub if_there: Option<RelPath>,
    /// It runs where the machine has this: a device.
    pub needs: Option<String>,
}

/// `script` of a command.
#[derive(Debug, Clone)]
pub struct RunScript {
    /// The file, relative to the manifest's directory.
    pub path: RelPath,
    /// Its text, without placeholders.
    pub text: String,
}

/// How a native project is built and installed; without `cmake`, its commands do all.
#[derive(Debug, Clone)]
pub struct Native {
    /// `cmake "ARGUMENT" preset="NAME"`.
    pub cmake: Option<Cmake>,
}

/// What CMake is given.
#[derive(Debug, Clone)]
pub struct Cmake {
    /// One of the project's presets.
    pub preset: Option<Spanned<Setting>>,
    /// More arguments.
    pub arguments: Vec<Spanned<Setting>>,
}

impl SourceProject {
    /// The kind of node it is.
    pub fn node(&self) -> &'static str {
        if self.native.is_some() { "native-project" } else { "python-project" }
    }

    /// Everything in it that may have placeholders.
    pub fn settings(&self) -> impl Iterator<Item = &Spanned<Setting>> {
        let pairs = self.environment.iter().chain(&self.config_settings).map(|(_, value)| value);
        let cmake = self.native.iter().filter_map(|native| native.cmake.as_ref());
        let cmake = cmake.flat_map(|cmake| cmake.preset.iter().chain(&cmake.arguments));
        self.run.iter().flat_map(|command| &command.words).chain(pairs).chain(cmake)
    }

    /// The native projects that its settings name.
    pub fn prefixes(&self) -> impl Iterator<Item = (PackageName, &Place)> {
        self.settings().flat_map(|setting| {
            let named = |filling| match filling {
                Filling::PrefixOf(name) => Some((name, &setting.place)),
                _ => None,
            };
            setting.places().into_iter().filter_map(named)
        })
    }
}

/// A choice of libraries: `a,b`, or `^a,b` for all but these; names can have `*` and `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The names or patterns.
    pub names: Vec<String>,
    /// These are left out, rather than taken.
    pub without: bool,
}

impl Selection {
    /// Reads one: names with `,` between, `^` before the first for all but these.
    pub fn parse(text: &str) -> Self {
        let (without, list) = text.strip_prefix('^').map_or((false, text), |list| (true, list));
        let names = list.split(',').map(|name| name.trim().to_owned());
        Self { names: names.filter(|name| !name.is_empty()).collect(), without }
    }

    /// What it chooses among the libraries that there are, in their order.
    ///
    /// # Errors
    /// The first name that none of them has.
    pub fn among(&self, known: &[String]) -> Result<Vec<String>, String> {
        let matches = |pattern: &str, name: &str| {
            let glob = Glob::new(pattern).ok();
            let name: Option<RelPath> = name.parse().ok();
            glob.zip(name).is_some_and(|(glob, name)| glob.matches(&name))
        };
        let none = |pattern: &&String| !known.iter().any(|name| matches(pattern, name));
        if let Some(unknown) = self.names.iter().find(none) {
            return Err(unknown.clone());
        }
        let chosen = |name: &&String| {
            self.names.iter().any(|pattern| matches(pattern, name)) != self.without
        };
        Ok(known.iter().filter(chosen).cloned().collect())
    }
}

/// As projects read it.
impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.without { "^" } else { "" })?;
        f.write_str(&self.names.join(","))
    }
}

/// `bindings "a" "b" env="VARIABLE"`: `a,b`; with `^` before the first, all but these.
#[derive(Debug, Clone)]
pub struct Libraries {
    /// The variable that the project reads.
    pub variable: Spanned<String>,
    /// What is selected.
    pub selection: Selection,
    /// Files of its checkout, one for each library there is: `*` stands for the name.
    pub among: Option<Spanned<Glob>>,
}

/// `wheel "name" path="…"` or `wheel "name" index="name==1.0"`.
#[derive(Debug, Clone)]
pub struct ReadyWheel {
    /// The name of its distribution, as indexes compare it, and where it is declared.
    pub name: Spanned<PackageName>,
    /// Where it comes from.
    pub from: WheelSource,
    /// Why there can be none.
    pub optional: Option<String>,
}

/// Where finished wheels come from.
#[derive(Debug, Clone)]
pub enum WheelSource {
    /// Files below the root of all sources.
    Files(Box<Spanned<Glob>>),
    /// An index, as the installer is configured: `NAME==VERSION`.
    Index(Spanned<Pin>),
}

/// `prefetch "NAME" path="GLOB" index="URL" requirement="NAME>=2"` or with `git="URL" branch="BRANCH"`.
#[derive(Debug, Clone)]
pub struct Prefetch {
    /// The name of its distribution, as indexes compare it, and where it is declared.
    pub name: Spanned<PackageName>,
    /// Files below the root of all sources; where some match, they are taken.
    pub path: Option<Spanned<Glob>>,
    /// Where it comes from otherwise.
    pub from: Option<PrefetchSource>,
}

/// Where the installer gets it.
#[derive(Debug, Clone)]
pub enum PrefetchSource {
    /// From an index.
    Index {
        /// Which versions will do; of none, the newest.
        requirement: Option<Spanned<Requirement>>,
        /// The index; of none, those that the installer is set up for.
        address: Option<Spanned<Setting>>,
    },
    /// A repository, of which it is built.
    Git {
        /// The address that git clones.
        address: Spanned<Setting>,
        /// A branch, a tag or a commit; of none, the default branch.
        branch: Option<String>,
    },
}

impl Prefetch {
    /// What has places for variables.
    pub fn settings(&self) -> Option<&Spanned<Setting>> {
        match self.from.as_ref()? {
            PrefetchSource::Index { address, .. } => address.as_ref(),
            PrefetchSource::Git { address, .. } => Some(address),
        }
    }
}

/// A version of Python, as interpreters are called by it: `3.12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonVersion(String);

/// A text that is no such version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version of Python")]
pub struct PythonVersionError(pub String);

impl PythonVersion {
    /// The version as it stands in the manifest.
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

/// A requirement (PEP 508), in its author's own spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement(String);

/// One version of a distribution on an index: `NAME==VERSION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin(String);

/// A text that names no distribution, or not one version of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}: {reason}")]
pub struct RequirementError {
    /// The text as it was given.
    pub text: String,
    /// What it should have been, with its article.
    pub kind: &'static str,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Requirement {
    /// The requirement as it stands in the manifest.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Pin {
    /// The pin as it stands in the manifest.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The distribution's name.
    pub fn name(&self) -> &str {
        self.0.split("==").next().unwrap_or_default()
    }
}

/// What versions and markers there are, the installer knows, which knows the machine.
impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        if text.parse::<names::Requirement>().is_ok() {
            return Ok(Self(text.to_owned()));
        }
        let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let reason = if starts {
            "write it like `numpy>=2` or `numpy>=2; python_version < '3.13'`"
        } else {
            "it has to begin with the name of a distribution"
        };
        Err(RequirementError { text: text.to_owned(), kind: "a requirement (PEP 508)", reason })
    }
}

impl FromStr for Pin {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let fine = text.split_once("==").is_some_and(|(name, version)| {
            name.parse::<base::names::DistName>().is_ok()
                && version.parse::<base::version::Version>().is_ok()
        });
        if fine {
            return Ok(Self(text.to_owned()));
        }
        let reason = "write `NAME==VERSION`";
        Err(RequirementError {
            text: text.to_owned(),
            kind: "one version of a distribution",
            reason,
        })
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
        let checkout = Checkout { directory, git: String::new(), branch, history: false };
        let of = |version: &str| checkout.branch_of(&version.parse().unwrap()).unwrap();
        assert_eq!([of("7.2.1rc2.dev3"), of("10")], ["rel-7.2.1", "rel-10.0.0"]);
    }

    #[test]
    fn a_selection_is_made_among_what_there_is() {
        let known = ["fft", "rand", "blas", "blaslt"].map(str::to_owned);
        let of = |text: &str| Selection::parse(text).among(&known).map(|names| names.join(","));
        assert_eq!(of("*").unwrap(), "fft,rand,blas,blaslt");
        assert_eq!(of("blas*,fft").unwrap(), "fft,blas,blaslt");
        assert_eq!(of("^blas?t,fft").unwrap(), "rand,blas");
        assert_eq!(of("^fft,sparse").unwrap_err(), "sparse");
    }

    #[test]
    fn pins_have_one_version() {
        assert_eq!("numpy==2.1.0".parse::<Pin>().unwrap().name(), "numpy");
        for bad in ["numpy", "numpy>=2", "==2", "numpy==two"] {
            assert!(bad.parse::<Pin>().is_err(), "{bad}");
        }
        assert!(
            "cython>=3; python_version > '3'".parse::<Requirement>().is_ok()
                && "--pre x".parse::<Requirement>().is_err()
        );
    }
}
