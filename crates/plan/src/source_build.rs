use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use base::names::{ModuleName, PackageName, RelPath};
use base::text::counted;

/// A project and all inputs of its build: a PEP 517 build, or an installation into a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a line of the manifest")]
#[serde(deny_unknown_fields)]
pub struct ProjectBuild {
    /// Distribution name, normalized (PEP 503).
    pub name: PackageName,
    /// Checkout, relative to the root of all sources.
    pub source: RelPath,
    /// Directory of the project in its checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdirectory: Option<RelPath>,
    /// Files that the checkout must have, part of the build even if ignored by git.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<RelPath>,
    /// Globs of further ignored files that are part of the build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_ignored: Vec<String>,
    /// All projects and wheels that must be ready before, including transitive ones.
    pub after: Vec<PackageName>,
    /// Commands that prepare the copy of the checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<RunCommand>,
    /// Installation into a directory, for native projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeBuild>,
    /// Branch name for a detached HEAD in the copy; needed if the version counts commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Additional build requirements (PEP 508).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_requires: Vec<String>,
    /// Limits of requirements' versions (PEP 508).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Variables to set, with placeholders for values that only a build knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Variables to pass through from the caller's environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Config settings for the build backend (PEP 517); several values of a key form a list.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config_settings: BTreeMap<String, Vec<String>>,
    /// Python versions, one wheel each; empty for the version of the building Python.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pythons: Vec<String>,
    /// The build runs in a separate environment.
    pub isolated: bool,
    /// The wheel receives the libraries of native projects that it needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// Newest allowed level of the wheel's platform tag: `manylinux_2_17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<String>,
    /// Build, tests and documentation have network access.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// The build can use the devel tree.
    pub devel: bool,
    /// Tests of the installed wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Trial>,
    /// Build of the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<Trial>,
    /// Declaring line: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// Program and arguments, with placeholders for values that only a build knows; of a script, its arguments.
    pub words: Vec<String>,
    /// Script for `sh`, in place of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<RunScript>,
    /// Condition: the checkout has this path.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub if_there: Option<RelPath>,
    /// Condition: the machine has this path, such as a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// Shell script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunScript {
    /// File in the manifest, `$0` of the script.
    pub path: RelPath,
    /// Text, without placeholders.
    pub text: String,
}

impl RunCommand {
    /// Program and arguments, filled by `fill`.
    pub fn argv(&self, fill: impl Fn(&str) -> String) -> Vec<String> {
        let script = self.script.iter();
        let shell = script.flat_map(|it| ["sh", "-c", &it.text, it.path.as_str()]);
        shell.map(str::to_owned).chain(self.words.iter().map(|word| fill(word))).collect()
    }
}

impl fmt::Display for RunCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script.iter().map(|script| script.path.as_str());
        let words: Vec<&str> = script.chain(self.words.iter().map(String::as_str)).collect();
        f.pad(&words.join(" "))
    }
}

/// Commands in an environment with the project's wheel installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Additional requirements (PEP 508).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Commands, in order.
    pub commands: Vec<RunCommand>,
}

/// Installation of a native project. Without CMake, its commands do everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NativeBuild {
    /// Arguments to configure CMake with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmake: Option<Vec<String>>,
}

/// A finished wheel that becomes part of the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TakenWheel {
    /// Distribution name, normalized (PEP 503).
    pub name: PackageName,
    /// Files, relative to the root of all sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RelPath>,
    /// Pin to fetch from the index: `NAME==VERSION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Declaring line: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// A wheel from another provider, made available before any build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrefetchedWheel {
    /// Distribution name, normalized (PEP 503).
    pub name: PackageName,
    /// Files, relative to the root of all sources. If any exist, nothing is fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RelPath>,
    /// Requirement for the installer (PEP 508): versions or a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
    /// Index to fetch from; `None` for the installer's configured indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Declaring line: `packages.kdl:12`.
    pub rule: Arc<str>,
}

/// Installation of the devel package that the same build makes, for projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DevelTree {
    /// Directory of the packages, relative to the destination.
    pub directory: RelPath,
    /// Pins to install: `NAME==VERSION`.
    pub install: Vec<String>,
    /// Import package of the selector, which expands the devel tree and prints its path.
    pub module: ModuleName,
}

/// Checkouts and wheels below the root of all sources.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Index of each complete checkout's `source` line.
    pub projects: BTreeMap<PackageName, usize>,
    /// Missing parts of incomplete checkouts.
    pub lacking: BTreeMap<PackageName, Vec<String>>,
    /// Possible libraries of each checkout.
    pub libraries: BTreeMap<PackageName, Vec<String>>,
    /// Sorted files of each `wheel` node.
    pub wheels: BTreeMap<PackageName, Vec<RelPath>>,
}

impl ProjectBuild {
    /// Directory below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.source.clone(), |below| self.source.join(below))
    }

    /// Inputs of the build that its lines in the manifest add to the checkout, one line each.
    pub fn inputs(&self) -> Vec<String> {
        let mut inputs = Vec::new();
        inputs.extend((!self.after.is_empty()).then(|| {
            let names: Vec<&str> = self.after.iter().map(PackageName::as_str).collect();
            format!("after {}", names.join(", "))
        }));
        inputs.extend(self.native.as_ref().map(|_| "into a separate directory".to_owned()));
        inputs.extend(
            (!self.pythons.is_empty()).then(|| format!("for Python {}", self.pythons.join(", "))),
        );
        inputs.extend((!self.isolated).then(|| "without isolation".to_owned()));
        inputs.extend(
            self.include_ignored.iter().map(|glob| format!("with {glob}, also if ignored")),
        );
        inputs.extend(
            self.build_requires.iter().map(|requirement| format!("requires {requirement}")),
        );
        inputs.extend(self.constraints.iter().map(|limit| format!("constrains {limit}")));
        inputs.extend(self.run.iter().map(|command| {
            let in_checkout = command.if_there.as_ref().map(RelPath::as_str);
            let conditions = in_checkout.into_iter().chain(command.needs.as_deref());
            conditions
                .fold(format!("runs {command}"), |text, path| text + &format!(", if {path} exists"))
        }));
        let cmake = self.native.as_ref().and_then(|native| native.cmake.as_ref());
        inputs.extend(self.repair.then(|| "with its needed libraries".to_owned()));
        inputs.extend(self.at_most.iter().map(|level| format!("at most {level}")));
        inputs.extend(self.network.then(|| "with the network".to_owned()));
        inputs.extend(cmake.map(|arguments| format!("cmake {}", arguments.join(" "))));
        inputs.extend(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        inputs.extend(self.pass.iter().map(|name| format!("{name} from the environment")));
        let settings = self
            .config_settings
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |value| format!("-C{key}={value}")));
        inputs.extend(settings);
        let trials = [("tests", &self.tests), ("documentation", &self.docs)];
        inputs.extend(trials.into_iter().filter_map(|(kind, trial)| {
            let count = trial.as_ref()?.commands.len();
            Some(format!("{kind}: {}", counted(count, "command")))
        }));
        inputs
    }
}

impl PrefetchedWheel {
    /// Returns true if the wheel is built from a git repository.
    pub fn is_built(&self) -> bool {
        let address = self.requirement.as_ref().and_then(|requirement| requirement.split_once('@'));
        address.is_some_and(|(_, address)| address.trim_start().starts_with("git+"))
    }

    /// Files, or the requirement and its index, for messages.
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
    /// Files, or the pin of an index, for messages.
    pub fn origin(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(RelPath::as_str).collect();
        self.index.as_ref().map_or_else(|| files.join(", "), |pin| format!("{pin} of the index"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_name_the_script_and_the_conditions_of_a_command() {
        let project: ProjectBuild = serde_json::from_value(json!({
            "name": "x", "source": "x", "after": [], "isolated": true, "devel": false, "rule": "",
            "run": [
                {"words": ["{python}", "a.py"], "if": "a.py", "needs": "/dev/kfd"},
                {"words": ["b"], "script": {"path": "prepare.sh", "text": "true"}}
            ]
        }))
        .unwrap();
        let expected =
            ["runs {python} a.py, if a.py exists, if /dev/kfd exists", "runs prepare.sh b"];
        assert_eq!(project.inputs(), expected);
    }
}
