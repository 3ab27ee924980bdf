//! The Python that builds, and what it is asked to do.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::process::{ProcessError, Run, answer};

/// The Python that builds. It has `build`, and a pip that installs into other environments.
#[derive(Debug, Clone)]
pub struct Tools {
    python: PathBuf,
    /// What its answers were, in one text.
    identity: String,
    compiler: String,
    /// Interpreters of other versions that wheels are built for.
    others: BTreeMap<String, Interpreter>,
}

/// An interpreter: where it is, and which it is.
#[derive(Debug, Clone)]
struct Interpreter {
    python: PathBuf,
    identity: String,
}

/// Why a Python cannot build.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// There is no such program, or it does not run.
    #[error("the Python `{}` that should build projects does not run", .python.display())]
    NoPython {
        /// What was asked for.
        python: PathBuf,
        /// How it failed.
        source: ProcessError,
    },
    /// An interpreter that wheels are to be built for is not there.
    #[error("there is no `python{version}`, for which `{project}` is to be built")]
    NoInterpreter {
        /// The version.
        version: String,
        /// One of the projects.
        project: String,
    },
    /// It lacks a module.
    #[error("the Python `{}` that should build projects has no module `{module}`", .python.display())]
    Lacks {
        /// What was asked for.
        python: PathBuf,
        /// The module.
        module: &'static str,
    },
    /// Its pip is too old.
    #[error("the pip {version} of `{}` is too old to install into other environments (pip 22.3)", .python.display())]
    OldPip {
        /// What was asked for.
        python: PathBuf,
        /// The version of its pip.
        version: String,
    },
}

impl ToolsError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoPython { .. } => "name another: --python PATH".to_owned(),
            Self::NoInterpreter { version, .. } => format!(
                "install it where PATH leads, with its module venv, or take \"{version}\" out of the project's `python` line"
            ),
            Self::Lacks { .. } | Self::OldPip { .. } => {
                "make an environment that has them, and name its Python: python3 -m venv tools && tools/bin/pip install --upgrade build pip, \
                 then --python tools/bin/python"
                    .to_owned()
            }
        }
    }
}

/// Says on one line each: the Python's own path, whether `build` and pip can be imported, pip's version, the
/// compiler, which Python it is.
const QUESTION: &str = "\
import importlib.util, sys, sysconfig
print(sys.executable)
print(bool(importlib.util.find_spec('build') and importlib.util.find_spec('build.__main__')))
print(importlib.import_module('pip').__version__ if importlib.util.find_spec('pip') else '')
print(sysconfig.get_config_var('CC') or '')
print(sys.version.replace('\\n', ' '), sysconfig.get_platform())";

impl Tools {
    /// Asks the Python that `python` names whether it can build.
    ///
    /// # Errors
    /// When it does not run, or lacks what a build needs.
    pub fn find(python: &Path) -> Result<Self, ToolsError> {
        let python = python.to_owned();
        let environment: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let command = [python.clone().into_os_string(), "-c".into(), QUESTION.into()];
        let here = Path::new(".");
        let said = answer(&Run {
            command: &command,
            directory: here,
            environment: &environment,
            limits: None,
        });
        let said =
            said.map_err(|source| ToolsError::NoPython { python: python.clone(), source })?;
        let mut lines = said.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (executable, has_build, pip) = (next(), next() == "True", next());
        if !has_build {
            return Err(ToolsError::Lacks { python, module: "build" });
        }
        if pip.is_empty() {
            return Err(ToolsError::Lacks { python, module: "pip" });
        }
        if !installs_elsewhere(&pip) {
            return Err(ToolsError::OldPip { python, version: pip });
        }
        let others = BTreeMap::new();
        Ok(Self { python: executable.into(), compiler: next(), identity: said.clone(), others })
    }

    /// Looks for the interpreters of these versions; the projects are those that ask for them.
    ///
    /// # Errors
    /// When one does not run, is of another version, or makes no environments.
    pub fn with_interpreters<'p>(
        mut self,
        wanted: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Result<Self, ToolsError> {
        for (project, version) in wanted {
            if !self.others.contains_key(version) {
                let found = interpreter(version).ok_or_else(|| ToolsError::NoInterpreter {
                    version: version.to_owned(),
                    project: project.to_owned(),
                })?;
                self.others.insert(version.to_owned(), found);
            }
        }
        Ok(self)
    }

    /// Which interpreter that of a version is.
    pub fn interpreter_identity(&self, version: &str) -> &str {
        self.others.get(version).map_or("", |other| &other.identity)
    }

    /// Its path.
    pub fn python(&self) -> &Path {
        &self.python
    }

    /// What it compiles extension modules with, by its own settings.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// The version and the platform of the Python that builds, or of the interpreter of a version.
    pub fn python_version(&self, version: Option<&str>) -> &str {
        let identity =
            version.map_or(&*self.identity, |version| self.interpreter_identity(version));
        identity.lines().last().unwrap_or_default()
    }

    /// The version of its pip.
    pub fn pip_version(&self) -> &str {
        self.identity.lines().nth(2).unwrap_or_default()
    }

    /// Which Python it is, with the versions that builds depend on.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The command that makes an environment without anything in it: of its own Python, or of a version.
    pub fn venv(&self, version: Option<&str>, place: &Path) -> Vec<OsString> {
        let other = version.and_then(|version| self.others.get(version));
        let python = other.map_or(&self.python, |other| &other.python);
        let words = ["-m", "venv", "--without-pip"].map(OsString::from);
        [python.into()].into_iter().chain(words).chain([place.into()]).collect()
    }

    /// Installs into the environment of `python`.
    pub fn install(
        &self,
        python: &Path,
        options: impl IntoIterator<Item = OsString>,
    ) -> Vec<OsString> {
        self.pip(python, [OsString::from("install")].into_iter().chain(options))
    }

    /// Runs pip for the environment of `python`.
    pub fn pip(&self, python: &Path, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let given = [OsString::from("--python"), python.into()];
        self.module("pip", &[], given.into_iter().chain(words))
    }

    /// Runs one of its modules.
    pub fn module(
        &self,
        module: &str,
        fixed: &[&str],
        more: impl IntoIterator<Item = OsString>,
    ) -> Vec<OsString> {
        let mut command = vec![self.python.clone().into_os_string(), "-m".into(), module.into()];
        command.extend(fixed.iter().map(OsString::from));
        command.extend(more);
        command
    }
}

/// What the interpreter of a version says of itself, on one line each: its path, its version, and all of both.
const WHICH: &str = "\
import sys, sysconfig, venv
print(sys.executable)
print('%d.%d' % sys.version_info[:2])
print(sys.version.replace('\\n', ' '), sysconfig.get_platform())";

/// The interpreter that `PATH` has for a version.
fn interpreter(version: &str) -> Option<Interpreter> {
    let environment: BTreeMap<String, OsString> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    let command = [format!("python{version}").into(), "-c".into(), WHICH.into()];
    let run = Run {
        command: &command,
        directory: Path::new("."),
        environment: &environment,
        limits: None,
    };
    let said = answer(&run).ok()?;
    let mut lines = said.lines();
    let (python, found) = (lines.next()?, lines.next()?);
    (found == version).then(|| Interpreter { python: python.into(), identity: said.clone() })
}

/// pip has `--python` since 22.3.
fn installs_elsewhere(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) >= (22, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_build_is_told_with_its_remedy() {
        let none = Tools::find(Path::new("/no/such/python")).unwrap_err();
        assert_eq!(
            none.to_string(),
            "the Python `/no/such/python` that should build projects does not run"
        );
        assert!(none.remedy().contains("--python"));
        assert!(
            ["22.3", "23.0.1", "26.1"].into_iter().all(installs_elsewhere)
                && !["9.0", "22.2.9"].into_iter().any(installs_elsewhere)
        );
    }
}
