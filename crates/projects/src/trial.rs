//! Runs a project's tests, or the build of its documentation, with the installed wheel.
//!
//! The commands see a user's environment: the wheel with its requirements, an empty directory, no
//! library paths in variables. They get a copy of the sources.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::reach::Reach;
use super::requirements::{Author, Requirements};
use super::snapshot::Snapshot;
use super::tools::Tools;
use super::tree_copy::copy;
use super::workspace::{Failed, MAKING_ENVIRONMENT, Workspace};
use super::{checkout, variables, wheelhouse};
use base::directory::is_empty;
use base::names::{PackageName, RelPath};
use manifest::{Filling, setting};
use plan::{ProjectBuild, RunCommand, Trial};

/// Kind of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialKind {
    /// Tests.
    Tests,
    /// Documentation.
    Docs,
}

impl TrialKind {
    /// Name in directories and logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Docs => "docs",
        }
    }
}

/// Result of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// Number of successful commands.
    pub passed: usize,
    /// Skipped commands with reasons.
    pub skipped: Vec<(String, String)>,
}

pub struct Site<'a> {
    pub project: &'a ProjectBuild,
    pub kind: TrialKind,
    pub sources: &'a Path,
    pub checkout: &'a Snapshot,
    /// Installable wheels, with the project's own.
    pub offered: Vec<PathBuf>,
    /// Names of the manifest.
    pub declared: &'a BTreeSet<String>,
    pub tools: &'a Tools,
    /// Installed tree, whose libraries the commands find.
    pub installed: Option<&'a Path>,
    pub processes: usize,
}

impl Site<'_> {
    /// Runs the commands until one fails; `{docs}` is the directory `docs` of the workspace.
    pub fn run(&self, trial: &Trial, place: &mut Workspace) -> Result<Ran, Failed> {
        let from = self.sources.join(self.project.source.as_str());
        let content = &self.checkout.content;
        let mut ran = Ran::default();
        let mut commands: Vec<&RunCommand> = Vec::new();
        for command in &trial.commands {
            match hindrance(command, |file| content.contains(file)) {
                Some(reason) => ran.skipped.push((command.words.join(" "), reason)),
                None => commands.push(command),
            }
        }
        for (command, reason) in &ran.skipped {
            place.log.write_line(&format!("skipped, for {reason}: {command}"))?;
        }
        if commands.is_empty() {
            return Ok(ran);
        }
        let source = place.directory.join("source");
        checkout::copy_checkout(&from, &source, content, self.project.branch.as_deref())?;
        let house = place.directory.join("wheelhouse");
        wheelhouse::offer(&self.offered, &house, &mut place.variables)?;
        let pythons = &self.project.pythons;
        // Documentation is independent of the version.
        let most = if self.kind == TrialKind::Docs { 1 } else { pythons.len() };
        if pythons.is_empty() {
            self.run_with(None, trial, &commands, place)?;
        }
        for version in pythons.iter().take(most) {
            let result = self.run_with(Some(version), trial, &commands, place);
            result.map_err(|failed| failed.for_python(version))?;
        }
        ran.passed = commands.len();
        Ok(ran)
    }

    fn run_with(
        &self,
        version: Option<&str>,
        trial: &Trial,
        commands: &[&RunCommand],
        place: &mut Workspace,
    ) -> Result<(), Failed> {
        let variables = place.variables.clone();
        let source = place.directory.join("source");
        let python = self.install(version, trial, place)?;
        let (empty, docs) = (place.directory.join("empty"), place.directory.join("docs"));
        fs::create_dir_all(&empty)?;
        fs::create_dir_all(&docs)?;
        let reach = place.reach.clone();
        // From here on, nothing is installed into this environment.
        let environment = python.parent().and_then(Path::parent).unwrap_or(&python).to_owned();
        let devices = commands.iter().filter_map(|command| command.needs.as_ref()).map(Path::new);
        place.reach = reach
            .clone()
            .map(|reach| devices.fold(reach.with_writable(&environment), Reach::with_writable));
        let filled = |filling: &Filling| self.filled(filling, [&source, &python, &docs]);
        for command in commands {
            let fill = |word: &String| OsString::from(setting::fill(word, filled));
            let words: Vec<OsString> = command.words.iter().map(fill).collect();
            place.run_in(&empty, &format!("`{}`", command.words.join(" ")), &words)?;
        }
        (place.variables, place.reach) = (variables, reach);
        Ok(())
    }

    fn install(
        &self,
        version: Option<&str>,
        trial: &Trial,
        place: &mut Workspace,
    ) -> Result<PathBuf, Failed> {
        let project = self.project;
        place.variables.remove("LD_LIBRARY_PATH");
        let libraries = self.installed.map(|tree| ("LD_LIBRARY_PATH".to_owned(), tree.join("lib")));
        place.variables.extend(libraries.map(|(name, path)| (name, path.into_os_string())));
        let passed =
            project.pass.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
        place.variables.extend(passed);
        let environment = place.directory.join(format!("env{}", version.unwrap_or_default()));
        place.run(MAKING_ENVIRONMENT, &self.tools.venv(version, &environment))?;
        variables::prepend(&mut place.variables, "PATH", &environment.join("bin"));
        let python = environment.join("bin/python");
        let required = Requirements {
            tools: self.tools,
            version,
            offered: &self.offered,
            declared: self.declared,
        };
        let lines = format!("{}\n{}", project.name, trial.requires.join("\n"));
        required.install(&lines, Author::Node, (&python, Vec::new()), "requires", place)?;
        Ok(python)
    }

    fn filled(&self, filling: &Filling, [source, python, docs]: [&PathBuf; 3]) -> Option<String> {
        Some(match filling {
            Filling::Source => source.display().to_string(),
            Filling::Python => python.display().to_string(),
            Filling::Docs => docs.display().to_string(),
            Filling::Jobs => self.processes.to_string(),
            Filling::Devel
            | Filling::Prefix
            | Filling::PrefixOf(_)
            | Filling::Isas
            | Filling::IsasOf(_)
            | Filling::Variable(_) => return None,
        })
    }
}

pub fn store_docs(from: &Path, directory: &Path, name: &PackageName) -> Result<(), Failed> {
    if is_empty(from)? {
        return Err(Failed::new("its commands left nothing in {docs}"));
    }
    fs::create_dir_all(directory)?;
    let place = directory.join(name.as_str());
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    Ok(copy(from, &place)?)
}

fn hindrance(command: &RunCommand, contains: impl Fn(&RelPath) -> bool) -> Option<String> {
    let device = command.needs.as_ref().filter(|needs| !Path::new(needs).exists());
    let file = command.if_there.as_ref().filter(|file| !contains(file));
    let device = device.map(|device| format!("this machine has no {device}"));
    let isas = || {
        let mut places = command.words.iter().flat_map(|word| setting::places(word));
        let place = places.find(Filling::is_of_isas)?;
        Some(format!("this build has no ISA for {{{}}}", place.word()))
    };
    device.or_else(|| file.map(|file| format!("the checkout has no {file}"))).or_else(isas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_needs_its_file_its_device_and_its_isas() {
        let hindrance_of = |word: &str, if_there: Option<&str>, needs: Option<&str>| {
            let if_there = if_there.map(|file| file.parse().unwrap());
            let (words, needs) = (vec![word.to_owned()], needs.map(str::to_owned));
            let command = RunCommand { words, script: None, if_there, needs };
            hindrance(&command, |file| file.as_str() == "there")
        };
        let why = |if_there, needs| hindrance_of("{source}", if_there, needs);
        assert_eq!(why(Some("there"), Some("/dev/null")), None);
        assert_eq!(why(Some("gone"), None).unwrap(), "the checkout has no gone");
        let device = why(Some("gone"), Some("/dev/no-such-device")).unwrap();
        assert_eq!(device, "this machine has no /dev/no-such-device");
        assert_eq!(hindrance_of("-D{isas:wave9}${isas}", None, None), None, "no placeholders");
        let isas = hindrance_of("--arch={isas:wave64}", None, None).unwrap();
        assert_eq!(isas, "this build has no ISA for {isas:wave64}");
    }
}
