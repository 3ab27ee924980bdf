//! Python packages that are made of sources or come finished, beside those of artifacts.

use std::fmt;
use std::str::FromStr;

use super::Glob;
use crate::names::{self, PackageName, RelPath};
use crate::source::{Place, Spanned};

/// What is declared beside the packages of artifacts, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Python {
    /// Source projects that are built.
    pub projects: Vec<PythonProject>,
    /// Finished wheels that are taken.
    pub wheels: Vec<ReadyWheel>,
}

impl Python {
    /// Where a project or a wheel is declared.
    pub fn place(&self, name: &PackageName) -> Option<&Place> {
        let mut names =
            self.projects.iter().map(|p| &p.name).chain(self.wheels.iter().map(|w| &w.name));
        names.find(|other| other.value == *name).map(|name| &name.place)
    }
}

/// `python-project "hip-python" optional="…" { … }`: a source project that is built through PEP 517.
#[derive(Debug, Clone)]
pub struct PythonProject {
    /// The name of the distribution it makes, as indexes compare it (PEP 503), and where it is declared.
    pub name: Spanned<PackageName>,
    /// Its checkout, below the root of all sources.
    pub source: Spanned<RelPath>,
    /// Where the project is in its checkout, when it isn't the checkout itself.
    pub subdirectory: Option<RelPath>,
    /// What has to be built before, to be installed where it is built.
    pub after: Vec<Spanned<PackageName>>,
    /// Commands that prepare the checkout, each with its arguments.
    pub run: Vec<Vec<Setting>>,
    /// Requirements of the build beside those that the project names itself (PEP 508).
    pub build_requires: Vec<Requirement>,
    /// Environment variables.
    pub environment: Vec<(Spanned<String>, Setting)>,
    /// The selection of libraries, which is an environment variable too.
    pub libraries: Option<Libraries>,
    /// Variables of the caller's environment that the build sees too.
    pub pass: Vec<String>,
    /// What is handed to the build backend (PEP 517, `config_settings`).
    pub config_settings: Vec<(Spanned<String>, Setting)>,
    /// Built in an environment of its own, rather than in that of the Python that builds.
    pub isolated: bool,
    /// Why its sources can be absent.
    pub optional: Option<String>,
}

impl PythonProject {
    /// Where the project is, below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.source.value.clone(), |below| self.source.join(below))
    }

    /// Everything in it that may have placeholders.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        let pairs = self.environment.iter().chain(&self.config_settings).map(|(_, value)| value);
        self.run.iter().flatten().chain(pairs)
    }
}

/// `bindings "a" "b" env="VARIABLE"`: `a,b`; with `^` before the first, all but these.
#[derive(Debug, Clone)]
pub struct Libraries {
    /// The variable that the project reads.
    pub variable: Spanned<String>,
    /// Its value.
    pub value: String,
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

/// A value with places for what only a build knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(String);

/// What fills a place in a [`Setting`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// `{devel}`: the expanded tree of the devel package of the same build.
    Devel,
    /// `{source}`: the project's checkout, a copy of which is built.
    Source,
    /// `{python}`: the Python that builds.
    Python,
    /// `{jobs}`: how many processes it may start at once.
    Jobs,
}

impl Filling {
    /// Every place there is.
    pub const ALL: [Self; 4] = [Self::Devel, Self::Source, Self::Python, Self::Jobs];

    /// Its word, which stands in braces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Devel => "devel",
            Self::Source => "source",
            Self::Python => "python",
            Self::Jobs => "jobs",
        }
    }

    fn marker(self) -> String {
        format!("{{{}}}", self.word())
    }
}

impl Setting {
    /// The value as it stands in the manifest.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has a place for this.
    pub fn wants(&self, filling: Filling) -> bool {
        self.0.contains(&filling.marker())
    }
}

/// Fills the places of a setting's text; `fill` is asked only for what it wants.
pub fn fill(text: &str, fill: impl Fn(Filling) -> String) -> String {
    Filling::ALL
        .into_iter()
        .filter(|f| text.contains(&f.marker()))
        .fold(text.to_owned(), |text, f| text.replace(&f.marker(), &fill(f)))
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A value with a place that nothing fills.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` has an unknown placeholder `{{{placeholder}}}`")]
pub struct SettingError {
    /// The value as it was given.
    pub text: String,
    /// What stands between the braces.
    pub placeholder: String,
}

/// Only a lower-case word in braces is a place: shells and CMake have braces of their own.
impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let words =
            text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word);
        let mut places = words.filter(|word| {
            !word.is_empty()
                && word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'))
        });
        match places.find(|word| Filling::ALL.iter().all(|f| f.word() != *word)) {
            Some(unknown) => {
                Err(SettingError { text: text.to_owned(), placeholder: unknown.to_owned() })
            }
            None => Ok(Self(text.to_owned())),
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
            name.parse::<crate::names::DistName>().is_ok()
                && version.parse::<crate::version::Version>().is_ok()
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

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let text = "-DA={devel}/b;${HOME};{\"a\": 1};{source}";
        let setting: Setting = text.parse().unwrap();
        assert!(setting.wants(Filling::Devel) && !setting.wants(Filling::Jobs));
        let filled = fill(setting.as_str(), |f| format!("<{}>", f.word()));
        assert_eq!(filled, "-DA=<devel>/b;${HOME};{\"a\": 1};<source>");
        assert_eq!("{devle}".parse::<Setting>().unwrap_err().placeholder, "devle");
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
