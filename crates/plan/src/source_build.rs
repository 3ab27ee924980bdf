//! Source projects that are built beside the packages of artifacts, and wheels that are taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use base::names::{ModuleName, PackageName, RelPath};
use base::text::counted;

/// A project that is built through PEP 517, or installed into a directory, with all that its build is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a line of the manifest")]
pub struct ProjectBuild {
    /// The distribution that it makes, as indexes compare names (PEP 503).
    pub name: PackageName,
    /// Its checkout, below the root of all sources.
    pub source: RelPath,
    /// Where the project is in its checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdirectory: Option<RelPath>,
    /// Files that its checkout must have; built also where git ignores them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<RelPath>,
    /// Globs of further files that are built though git ignores them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_ignored: Vec<String>,
    /// Everything that is built or taken before it, also by way of others: what it can be built against.
    pub after: Vec<PackageName>,
    /// Commands that prepare the copy of its checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<RunCommand>,
    /// How it is installed into a directory, where that is what it makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeBuild>,
    /// The name that a detached HEAD gets in the copy of its checkout, where its version counts commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Requirements beside those that the project names itself (PEP 508).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_requires: Vec<String>,
    /// Variables that it is built with, with placeholders for what only a build knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Variables of the caller's environment that it sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// What the build backend is handed (PEP 517); several values of a key are a list.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config_settings: BTreeMap<String, Vec<String>>,
    /// The versions of Python that it is built for, a wheel each; of none, that of the Python that builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pythons: Vec<String>,
    /// Whether it is built in an environment of its own.
    pub isolated: bool,
    /// Whether its wheel gets the libraries that it needs of native projects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// Whether its build, its tests and its documentation may open connections.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Whether it is given the devel package's tree.
    pub devel: bool,
    /// What tests its installed wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Trial>,
    /// What makes its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<Trial>,
    /// Where it is declared: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunCommand {
    /// The program and its arguments, with placeholders for what only a build knows; of a script, its arguments.
    pub words: Vec<String>,
    /// The script for `sh` to run in place of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<RunScript>,
    /// It runs where the checkout has this.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub if_there: Option<RelPath>,
    /// It runs where the machine has this: a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// A shell script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunScript {
    /// Its file in the manifest, `$0` of the script.
    pub path: RelPath,
    /// Its text, without placeholders.
    pub text: String,
}

impl RunCommand {
    /// The program and its arguments, with `fill` for their placeholders.
    pub fn argv(&self, fill: impl Fn(&str) -> String) -> Vec<String> {
        let script = self.script.iter();
        let shell = script.flat_map(|it| ["sh", "-c", &it.text, it.path.as_str()]);
        shell.map(str::to_owned).chain(self.words.iter().map(|word| fill(word))).collect()
    }
}

/// The command as messages show it: of a script, its name.
impl fmt::Display for RunCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script.iter().map(|script| script.path.as_str());
        let words: Vec<&str> = script.chain(self.words.iter().map(String::as_str)).collect();
        f.pad(&words.join(" "))
    }
}

/// Commands for an environment in which a project's wheel is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Trial {
    /// What they need beside the wheel (PEP 508).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The commands.
    pub commands: Vec<RunCommand>,
}

/// How a native project is installed; without CMake, its commands do all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NativeBuild {
    /// The arguments for CMake to configure it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmake: Option<Vec<String>>,
}

/// A finished wheel that is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TakenWheel {
    /// Its distribution, as indexes compare names (PEP 503).
    pub name: PackageName,
    /// Files below the root of all sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RelPath>,
    /// What is fetched from the index: `NAME==VERSION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Where it is declared: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// A wheel that others provide, which is there before anything is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PrefetchedWheel {
    /// Its distribution, as indexes compare names (PEP 503).
    pub name: PackageName,
    /// Files below the root of all sources; where there are some, nothing is fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RelPath>,
    /// What the installer is asked for (PEP 508): versions, or a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// The index; of none, those that the installer is set up for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Where it is declared: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// How projects get the tree of the devel package that the same build makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DevelTree {
    /// Where the packages are: below the destination.
    pub directory: RelPath,
    /// What is installed, as `NAME==VERSION`.
    pub install: Vec<String>,
    /// The selector's import package, which expands the tree and says where it is.
    pub module: ModuleName,
}

/// What is below the root of all sources: who looks tells the plan, which reads no file.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Where projects are, of those that are there with all that they need: which of their `source` lines.
    pub projects: BTreeMap<PackageName, usize>,
    /// What is missing of projects whose checkout is there, a line each.
    pub lacking: BTreeMap<PackageName, Vec<String>>,
    /// The libraries that projects can be built for, as their checkouts have them.
    pub libraries: BTreeMap<PackageName, Vec<String>>,
    /// The files that each `wheel` node's glob matches, sorted.
    pub wheels: BTreeMap<PackageName, Vec<RelPath>>,
}

impl ProjectBuild {
    /// Where the project is, below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.source.clone(), |below| self.source.join(below))
    }

    /// What its build is given, a line each, as people read it.
    pub fn given(&self) -> Vec<String> {
        let mut given = Vec::new();
        given.extend((!self.after.is_empty()).then(|| {
            let names: Vec<&str> = self.after.iter().map(PackageName::as_str).collect();
            format!("after {}", names.join(", "))
        }));
        given.extend(self.native.as_ref().map(|_| "into a directory of its own".to_owned()));
        given.extend(
            (!self.pythons.is_empty()).then(|| format!("for Python {}", self.pythons.join(", "))),
        );
        given.extend((!self.isolated).then(|| "without isolation".to_owned()));
        given.extend(
            self.include_ignored.iter().map(|glob| format!("with {glob}, also if ignored")),
        );
        given.extend(
            self.build_requires.iter().map(|requirement| format!("requires {requirement}")),
        );
        given.extend(self.run.iter().map(|command| {
            let condition = command.if_there.as_ref();
            let condition = condition.map(|file| format!(", if there is {file}"));
            format!("runs {}{}", command.words.join(" "), condition.unwrap_or_default())
        }));
        let cmake = self.native.as_ref().and_then(|native| native.cmake.as_ref());
        given.extend(self.repair.then(|| "with the libraries that it needs".to_owned()));
        given.extend(self.network.then(|| "with the network".to_owned()));
        given.extend(cmake.map(|arguments| format!("cmake {}", arguments.join(" "))));
        given.extend(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        given.extend(self.pass.iter().map(|name| format!("{name} as it is set")));
        let settings = self
            .config_settings
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |value| format!("-C{key}={value}")));
        given.extend(settings);
        let trials = [("tests", &self.tests), ("documentation", &self.docs)];
        given.extend(trials.into_iter().filter_map(|(kind, trial)| {
            let count = trial.as_ref()?.commands.len();
            Some(format!("{kind}: {}", counted(count, "command")))
        }));
        given
    }
}

impl PrefetchedWheel {
    /// Whether it is built of a repository.
    pub fn is_built(&self) -> bool {
        self.requirement.as_ref().is_some_and(|requirement| requirement.contains(" @ git+"))
    }

    /// Where it comes from, as people read it.
    pub fn origin(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(RelPath::as_str).collect();
        let Some(requirement) = &self.requirement else { return files.join(", ") };
        match &self.index {
            Some(index) => format!("{requirement} of {index}"),
            None if self.is_built() => requirement.clone(),
            None => format!("{requirement} of the index"),
        }
    }
}

impl TakenWheel {
    /// Where it comes from, as people read it.
    pub fn origin(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(RelPath::as_str).collect();
        self.index.as_ref().map_or_else(|| files.join(", "), |pin| format!("{pin} of the index"))
    }
}
