//! Steps from a checkout to a wheel.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::reach::ANSWERS;
use super::recorded::{compilers, installed};
use super::requirements::{Author, Requirements};
use super::resume::{self, Record};
use super::snapshot::Snapshot;
use super::tools::Tools;
use super::workspace::{BUILDING, Failed, MAKING_ENVIRONMENT, Workspace, wheel_in};
use super::{Settings, checkout, native, private, repair, variables, wheelhouse};
use base::names::RelPath;
use base::regular;
use manifest::{Filling, setting};
use plan::{NativeBuild, ProjectBuild};

pub(crate) const MOST_ANSWERED: u64 = 1 << 20;
/// Number of processes of CMake.
const PARALLEL: &str = "CMAKE_BUILD_PARALLEL_LEVEL";

pub(crate) fn furnish(place: &mut Workspace, processes: usize) -> io::Result<()> {
    let temporary = place.directory.join("tmp");
    fs::create_dir_all(&temporary)?;
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    place.variables = variables::base(caller);
    let settings = [
        ("TMPDIR", temporary.into()),
        // The default is a random name, which debug information would contain.
        ("SKBUILD_BUILD_DIR", place.directory.join("build").into_os_string()),
        (PARALLEL, processes.to_string().into()),
    ];
    place.variables.extend(settings.map(|(name, value)| (name.to_owned(), value)));
    Ok(())
}

pub struct Site<'a> {
    pub project: &'a ProjectBuild,
    pub sources: &'a Path,
    pub checkout: &'a Snapshot,
    /// Wheels to build against.
    pub offered: Vec<PathBuf>,
    /// Names of the manifest.
    pub declared: &'a BTreeSet<String>,
    pub tools: &'a Tools,
    pub work: &'a Path,
    /// Parent directory of installed native projects.
    pub prefixes: PathBuf,
    /// Expanded devel tree.
    pub devel: Option<&'a Path>,
    pub processes: usize,
    /// Hash of the inputs of kept work; `None` if nothing is kept.
    pub work_key: Option<String>,
    /// Python version, unless it is the building Python's.
    pub version: Option<&'a str>,
}

/// A copy of a checkout and its environment.
pub(crate) struct Prepared {
    source: PathBuf,
    directory: PathBuf,
    python: PathBuf,
    /// State for kept work; `None` if it is noted, or nothing is kept.
    state: Option<Record>,
    is_new: bool,
    setuptools: bool,
}

impl Site<'_> {
    pub(crate) fn confine(&self, settings: &Settings, place: &mut Workspace) -> io::Result<()> {
        if settings.unconfined {
            return Ok(());
        }
        let project = self.project;
        let prefix = project.native.as_ref().map(|_| self.prefixes.join(project.name.as_str()));
        private::confine(place, project, prefix.as_deref(), &settings.protected)
    }

    pub(crate) fn build(
        &self,
        prepared: Option<Prepared>,
        place: &mut Workspace,
    ) -> Result<Vec<PathBuf>, Failed> {
        place.variables.insert(PARALLEL.to_owned(), self.processes.to_string().into());
        let prepared = prepared.map_or_else(|| self.prepare(place), Ok)?;
        if prepared.setuptools {
            self.compile_at_once(place)?;
        }
        if let Some(native) = &self.project.native {
            self.build_native(native, prepared, place)?;
            return Ok(Vec::new());
        }
        let wheel = self.build_wheel(&prepared, place)?;
        if self.project.repair {
            return Ok(vec![self.repaired(&wheel, place)?]);
        }
        Ok(vec![wheel])
    }

    /// Copies the checkout, makes its environment, and installs its requirements.
    pub(crate) fn prepare(&self, place: &mut Workspace) -> Result<Prepared, Failed> {
        let project = self.project;
        let source = place.directory.join("source");
        let from = self.sources.join(project.source.as_str());
        let content = &self.checkout.content;
        let state = self.work_key.as_ref().map(|key| Record::new(key, self.checkout.files.clone()));
        let is_read = |path: &Path| resume::is_read(project, path);
        let resumed =
            state.as_ref().map(|now| resume::resume(&place.directory, now, &from, is_read));
        let resumed = resumed.transpose()?.flatten();
        let is_new = resumed.is_none();
        if is_new {
            checkout::copy_checkout(&from, &source, content, project.branch.as_deref())?;
        } else {
            place.log.write_line("resuming the work of an earlier build")?;
        }
        wheelhouse::offer(
            &self.offered,
            &place.directory.join("wheelhouse"),
            &mut place.variables,
        )?;
        let python = self.environment(place, is_new)?;
        let fill =
            |text: &str| setting::fill(text, |filling| self.filled(filling, &source, &python));
        self.give_variables(place, &fill);
        if is_new {
            let lines = project.build_requires.join("\n");
            self.require(&python, place, (&lines, Author::Node), "build-requires")?;
        }
        let directory = project
            .subdirectory
            .as_ref()
            .map_or_else(|| source.clone(), |below| source.join(below.as_str()));
        let setuptools = project.native.is_none() && uses_setuptools(&directory);
        if setuptools {
            self.compile_at_once(place)?;
        }
        if private::shares_compiler_cache(place) {
            variables::use_compiler_cache(&mut place.variables, self.tools.compiler(), setuptools);
        }
        self.remember_tools(place, setuptools);
        if let Some(used) = resumed {
            place.used.requirements = used.requirements;
            place.used.tools.insert("work".to_owned(), "resumed".to_owned());
        }
        let mut prepared = Prepared { source, directory, python, state, is_new, setuptools };
        if project.native.is_none() {
            self.prepare_wheel(&mut prepared, place)?;
        }
        Ok(prepared)
    }

    /// Runs the commands, and installs the requirements of the backend.
    fn prepare_wheel(&self, prepared: &mut Prepared, place: &mut Workspace) -> Result<(), Failed> {
        let Prepared { source, directory, python, state, is_new, setuptools } = prepared;
        let fill = |text: &str| setting::fill(text, |filling| self.filled(filling, source, python));
        if *is_new {
            self.run(source, place, &fill)?;
        }
        // After the commands, which compile without these flags.
        variables::show_fixed_paths(&mut place.variables, self.work, *setuptools);
        if !self.project.isolated {
            let preinstalled = installed(python, place)?;
            place.used.add_preinstalled(preinstalled);
        } else if *is_new {
            self.requirements(directory, python, &self.config_settings(source, python), place)?;
            note(state.take(), place)?;
        }
        Ok(())
    }

    fn build_native(
        &self,
        native: &NativeBuild,
        prepared: Prepared,
        place: &mut Workspace,
    ) -> Result<(), Failed> {
        let Prepared { source, directory, python, state, is_new, .. } = prepared;
        let fill =
            |text: &str| setting::fill(text, |filling| self.filled(filling, &source, &python));
        variables::show_fixed_paths(&mut place.variables, self.work, false);
        let site = native::Site {
            prefix: self.prefixes.join(self.project.name.as_str()),
            processes: self.processes,
            directory: &directory,
        };
        site.begin()?;
        if is_new || native.cmake.is_none() {
            self.run(&source, place, &fill)?;
            note(state, place)?;
        }
        site.build(native, place, &fill)
    }

    fn build_wheel(&self, prepared: &Prepared, place: &Workspace) -> Result<PathBuf, Failed> {
        let Prepared { source, directory, python, .. } = prepared;
        let out = place.directory.join("out");
        let settings = self.config_settings(source, python);
        if self.project.isolated {
            self.hook("wheel", directory, python, &settings, &out, place)?;
        } else {
            self.run_build_module(directory, &settings, &out, place)?;
        }
        wheel_in(&out, &self.project.name)
    }

    fn config_settings(&self, source: &Path, python: &Path) -> Configured<'_> {
        let fill = |text: &str| setting::fill(text, |filling| self.filled(filling, source, python));
        let settings = self.project.config_settings.iter();
        settings.map(|(key, values)| (key, values.iter().map(|v| fill(v)).collect())).collect()
    }

    fn repaired(&self, wheel: &Path, place: &mut Workspace) -> Result<PathBuf, Failed> {
        let project = self.project;
        let libraries =
            project.after.iter().map(|name| self.prefixes.join(name.as_str()).join("lib"));
        let site = repair::Site {
            libraries: libraries.filter(|directory| directory.is_dir()).collect(),
            offered: &self.offered,
            declared: self.declared,
            tree: self.devel,
            tools: self.tools,
        };
        site.repair(wheel, &project.name, place)
    }

    fn run(
        &self,
        source: &Path,
        place: &Workspace,
        fill: &impl Fn(&str) -> String,
    ) -> Result<(), Failed> {
        for command in &self.project.run {
            let required_file = command.if_there.as_ref();
            if let Some(file) = required_file.filter(|file| !source.join(file.as_str()).exists()) {
                place.log.write_line(&format!("not run without {file}: {command}"))?;
                if self.sources.join(self.project.source.as_str()).join(file.as_str()).exists() {
                    place.log.write_line(&ignored(file))?;
                }
                continue;
            }
            let words: Vec<OsString> = command.argv(fill).into_iter().map(Into::into).collect();
            place.run_in(source, &format!("running `{command}`"), &words)?;
        }
        Ok(())
    }

    fn remember_tools(&self, place: &mut Workspace, setuptools: bool) {
        let compiler =
            Some(self.tools.compiler()).filter(|compiler| setuptools && !compiler.is_empty());
        place.used.tools = compilers(place, compiler);
        let python = self.version.map_or_else(|| "python".to_owned(), |v| format!("python{v}"));
        let version = self.tools.python_version(self.version).to_owned();
        place.used.tools.insert(python, version);
        place.used.tools.insert("pip".to_owned(), self.tools.pip_version().to_owned());
    }

    /// Makes setuptools compile in parallel; PEP 517 has no option for it.
    fn compile_at_once(&self, place: &mut Workspace) -> io::Result<()> {
        let file = place.directory.join("setuptools.cfg");
        fs::write(&file, format!("[build_ext]\nparallel = {}\n", self.processes))?;
        place.variables.entry("DIST_EXTRA_CONFIG".to_owned()).or_insert(file.into());
        Ok(())
    }

    pub(crate) fn filled(&self, filling: &Filling, source: &Path, python: &Path) -> Option<String> {
        let prefix = |name: &str| self.prefixes.join(name).display().to_string();
        Some(match filling {
            Filling::Devel => self.devel?.display().to_string(),
            Filling::Source => source.display().to_string(),
            Filling::Python => python.display().to_string(),
            Filling::Jobs => self.processes.to_string(),
            Filling::Prefix => prefix(self.project.name.as_str()),
            Filling::PrefixOf(name) => prefix(name.as_str()),
            Filling::Isas | Filling::IsasOf(_) | Filling::Variable(_) | Filling::Docs => {
                return None;
            }
        })
    }

    fn environment(&self, place: &mut Workspace, is_new: bool) -> Result<PathBuf, Failed> {
        if !self.project.isolated {
            let python = self.tools.python().to_owned();
            python.parent().inspect(|bin| variables::prepend(&mut place.variables, "PATH", bin));
            return Ok(python);
        }
        let environment = place.directory.join("env");
        if is_new {
            place.run(MAKING_ENVIRONMENT, &self.tools.venv(self.version, &environment))?;
        }
        variables::prepend(&mut place.variables, "PATH", &environment.join("bin"));
        Ok(environment.join("bin/python"))
    }

    pub(crate) fn required(&self) -> Requirements<'_> {
        Requirements {
            tools: self.tools,
            version: self.version,
            offered: &self.offered,
            declared: self.declared,
        }
    }

    fn require(
        &self,
        python: &Path,
        place: &mut Workspace,
        (lines, author): (&str, Author),
        name: &str,
    ) -> Result<(), Failed> {
        let required = self.required();
        if self.project.isolated {
            return required.install(lines, author, (python, Vec::new()), name, place);
        }
        let target = place.directory.join("requires");
        let options = vec!["--target".into(), target.clone().into_os_string()];
        required.install(lines, author, (python, options), name, place)?;
        if target.is_dir() {
            variables::prepend(&mut place.variables, "PATH", &target.join("bin"));
            variables::prepend(&mut place.variables, "PYTHONPATH", &target);
        }
        Ok(())
    }

    /// Installs requirements like `python -m build`, but with a constant path, because compilers
    /// store the paths of headers.
    fn requirements(
        &self,
        directory: &Path,
        python: &Path,
        settings: &Configured<'_>,
        place: &mut Workspace,
    ) -> Result<(), Failed> {
        for hook in ["static", "dynamic"] {
            let file = place.directory.join(ANSWERS).join(format!("{hook}.txt"));
            fs::create_dir_all(place.directory.join(ANSWERS))?;
            self.hook(hook, directory, python, settings, &file, place)?;
            let lines = regular::read_to_string(&file, MOST_ANSWERED)?;
            self.require(python, place, (&lines, Author::Project), hook)?;
        }
        Ok(())
    }

    fn hook(
        &self,
        name: &str,
        directory: &Path,
        python: &Path,
        settings: &Configured<'_>,
        out: &Path,
        place: &Workspace,
    ) -> Result<(), Failed> {
        let json = |(key, values): (&&String, &Vec<String>)| {
            let value = if let [one] = values.as_slice() {
                one.clone().into()
            } else {
                serde_json::Value::from(values.clone())
            };
            ((*key).clone(), value)
        };
        let settings = serde_json::Value::Object(settings.iter().map(json).collect()).to_string();
        let words = [
            self.tools.python().into(),
            self.work.join("pep517.py").into_os_string(),
            name.into(),
            directory.into(),
            python.into(),
        ];
        let command: Vec<OsString> =
            words.into_iter().chain([settings.into(), out.into()]).collect();
        let doing =
            if name == "wheel" { BUILDING } else { "reading the requirements of its build" };
        place.run_in(directory, doing, &command)
    }

    fn run_build_module(
        &self,
        directory: &Path,
        settings: &Configured<'_>,
        out: &Path,
        place: &Workspace,
    ) -> Result<(), Failed> {
        let pairs = settings.iter().flat_map(|(key, values)| {
            values.iter().map(move |value| format!("-C{key}={value}").into())
        });
        let fixed = ["--wheel", "--no-isolation", "--outdir"];
        let command = self.tools.module(
            "build",
            &fixed,
            [out.into()].into_iter().chain(pairs).chain([directory.into()]),
        );
        // Python imports `build` from its working directory, if that has one.
        place.run_in(Path::new("/"), BUILDING, &command)
    }

    pub(crate) fn give_variables(&self, place: &mut Workspace, fill: &impl Fn(&str) -> String) {
        let project = self.project;
        let passed =
            project.pass.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
        place.variables.extend(passed);
        let environment = project.environment.iter();
        place
            .variables
            .extend(environment.map(|(name, value)| (name.clone(), OsString::from(fill(value)))));
    }
}

fn note(state: Option<Record>, place: &Workspace) -> io::Result<()> {
    let Some(mut state) = state else { return Ok(()) };
    state.used = place.used.clone();
    state.write(&place.directory)
}

fn ignored(file: &RelPath) -> String {
    format!(
        "the checkout has {file}, which git ignores: `include-ignored \"{file}\"` in the project takes it"
    )
}

/// Returns true if setuptools is the backend, which is the default (PEP 517, "build-backend").
fn uses_setuptools(directory: &Path) -> bool {
    let text = fs::read_to_string(directory.join("pyproject.toml")).unwrap_or_default();
    let backend = text.lines().find(|line| line.trim_start().starts_with("build-backend"));
    backend.is_none_or(|line| line.contains("setuptools"))
}

type Configured<'a> = BTreeMap<&'a String, Vec<String>>;
