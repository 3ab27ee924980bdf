//! The Python that builds, and its commands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::process::{ProcessError, Run, answer};

/// Python with `build`, and a pip that can install into other environments.
#[derive(Debug, Clone)]
pub struct Tools {
    python: PathBuf,
    /// Directory of the package.
    pip: PathBuf,
    identity: String,
    compiler: String,
    interpreters: BTreeMap<String, Interpreter>,
}

#[derive(Debug, Clone)]
struct Interpreter {
    python: PathBuf,
    identity: String,
}

/// Unsuitable Python.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// Missing or broken.
    #[error("the Python `{}` for building projects does not run", .python.display())]
    NoPython {
        /// Requested program.
        python: PathBuf,
        /// Failure.
        source: ProcessError,
    },
    /// Missing interpreter of another version.
    #[error("`python{version}`, required by `{project}`, does not exist")]
    NoInterpreter {
        /// Version.
        version: String,
        /// One of the projects that need it.
        project: String,
    },
    /// Missing module.
    #[error("the Python `{}` for building projects has no module `{module}`", .python.display())]
    NoModule {
        /// Requested program.
        python: PathBuf,
        /// Module.
        module: &'static str,
    },
    /// Outdated pip.
    #[error("the pip {version} of `{}` is too old to install into other environments (pip 22.3)", .python.display())]
    OldPip {
        /// Requested program.
        python: PathBuf,
        /// Version of pip.
        version: String,
    },
}

impl ToolsError {
    /// Remedy.
    pub fn remedy(&self) -> String {
        match self {
            Self::NoPython { .. } => "name another in the variable ROCKPACK_PYTHON".to_owned(),
            Self::NoInterpreter { version, .. } => format!(
                "install it in a directory of PATH, with its module venv, or remove \"{version}\" from the project's `python` line"
            ),
            Self::NoModule { .. } | Self::OldPip { .. } => {
                "make an environment that has them, and name its Python: python3 -m venv tools && tools/bin/pip install --upgrade build pip, \
                 then export ROCKPACK_PYTHON=tools/bin/python"
                    .to_owned()
            }
        }
    }
}

/// Prints a line each: path, presence of `build`, version and directory of pip, compiler, version
/// and platform.
///
/// With `-c`, Python imports from its working directory first; `-P` is new in Python 3.11, and `-I`
/// would hide packages of `pip install --user`.
const QUESTION: &str = "\
import sys
if sys.path[0] == '': del sys.path[0]
import importlib.util, os.path, sysconfig
print(sys.executable)
print(bool(importlib.util.find_spec('build') and importlib.util.find_spec('build.__main__')))
pip = importlib.import_module('pip') if importlib.util.find_spec('pip') else None
print(pip.__version__ if pip else '')
print(os.path.dirname(pip.__file__) if pip else '')
print(sysconfig.get_config_var('CC') or '')
print(sys.version.replace('\\n', ' '), sysconfig.get_platform())";

impl Tools {
    /// Checks that `python` can build.
    pub fn find(python: &Path) -> Result<Self, ToolsError> {
        let python = python.to_owned();
        let environment: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let command = [python.clone().into_os_string(), "-c".into(), QUESTION.into()];
        let directory = Path::new(".");
        let output =
            answer(&Run { command: &command, directory, environment: &environment, limits: None });
        let output =
            output.map_err(|source| ToolsError::NoPython { python: python.clone(), source })?;
        let mut lines = output.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (executable, has_build, pip) = (next(), next() == "True", next());
        if !has_build {
            return Err(ToolsError::NoModule { python, module: "build" });
        }
        if pip.is_empty() {
            return Err(ToolsError::NoModule { python, module: "pip" });
        }
        if !installs_elsewhere(&pip) {
            return Err(ToolsError::OldPip { python, version: pip });
        }
        let interpreters = BTreeMap::new();
        let (python, pip) = (executable.into(), next().into());
        Ok(Self { python, pip, compiler: next(), identity: output.clone(), interpreters })
    }

    /// Finds the interpreters of pairs of project and version. Fails for an unsuitable one.
    pub(crate) fn with_interpreters<'p>(
        mut self,
        versions_of_projects: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Result<Self, ToolsError> {
        for (project, version) in versions_of_projects {
            if !self.interpreters.contains_key(version) {
                let interpreter =
                    interpreter(version).ok_or_else(|| ToolsError::NoInterpreter {
                        version: version.to_owned(),
                        project: project.to_owned(),
                    })?;
                self.interpreters.insert(version.to_owned(), interpreter);
            }
        }
        Ok(self)
    }

    pub(crate) fn interpreter_identity(&self, version: &str) -> &str {
        self.interpreters.get(version).map_or("", |interpreter| &interpreter.identity)
    }

    pub fn python(&self) -> &Path {
        &self.python
    }

    /// Configured compiler of extension modules.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    pub(crate) fn python_version(&self, version: Option<&str>) -> &str {
        let identity =
            version.map_or(&*self.identity, |version| self.interpreter_identity(version));
        identity.lines().last().unwrap_or_default()
    }

    pub(crate) fn pip_version(&self) -> &str {
        self.identity.lines().nth(2).unwrap_or_default()
    }

    /// All facts that builds depend on.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Command that makes an empty environment.
    pub fn venv(&self, version: Option<&str>, place: &Path) -> Vec<OsString> {
        let interpreter = version.and_then(|version| self.interpreters.get(version));
        let python = interpreter.map_or(&self.python, |interpreter| &interpreter.python);
        let words = ["-m", "venv", "--without-pip"].map(OsString::from);
        [python.into()].into_iter().chain(words).chain([place.into()]).collect()
    }

    /// Command that installs into the environment of `python`.
    pub fn install(
        &self,
        python: &Path,
        options: impl IntoIterator<Item = OsString>,
    ) -> Vec<OsString> {
        self.pip(python, [OsString::from("install")].into_iter().chain(options))
    }

    /// pip command for the environment of `python`.
    pub fn pip(&self, python: &Path, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let option = [OsString::from("--python"), python.into()];
        self.module("pip", &[], option.into_iter().chain(words))
    }

    /// pip command that `python` itself runs: with `--python`, pip starts a program.
    pub(crate) fn pip_alone(
        &self,
        python: &Path,
        words: impl IntoIterator<Item = OsString>,
    ) -> Vec<OsString> {
        let fixed = [python.into(), self.pip.join("__pip-runner__.py").into()];
        fixed.into_iter().chain(words).collect()
    }

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

/// Prints a line each: path, version, version with platform.
const WHICH: &str = "\
import sys
if sys.path[0] == '': del sys.path[0]
import sysconfig, venv
print(sys.executable)
print('%d.%d' % sys.version_info[:2])
print(sys.version.replace('\\n', ' '), sysconfig.get_platform())";

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
    let output = answer(&run).ok()?;
    let mut lines = output.lines();
    let (python, reported_version) = (lines.next()?, lines.next()?);
    (reported_version == version)
        .then(|| Interpreter { python: python.into(), identity: output.clone() })
}

/// pip has `--python` since 22.3.
fn installs_elsewhere(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) >= (22, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old Pythons too, without `-P`.
    #[test]
    fn questions_import_nothing_from_the_working_directory() {
        let dir = tempfile::tempdir().unwrap();
        for module in ["sysconfig", "venv", "importlib", "build", "pip"] {
            let code = "raise SystemExit('imported from the working directory')";
            fs_err::write(dir.path().join(format!("{module}.py")), code).unwrap();
        }
        for question in [QUESTION, WHICH] {
            let mut python = std::process::Command::new("python3");
            let output = python.args(["-c", question]).current_dir(dir.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }

    #[test]
    fn a_missing_python_is_an_error_with_a_remedy() {
        let error = Tools::find(Path::new("/no/such/python")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the Python `/no/such/python` for building projects does not run"
        );
        assert!(error.remedy().contains("ROCKPACK_PYTHON"));
        assert!(
            ["22.3", "23.0.1", "26.1"].into_iter().all(installs_elsewhere)
                && !["9.0", "22.2.9"].into_iter().any(installs_elsewhere)
        );
    }
}
