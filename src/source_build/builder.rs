//! The steps from a checkout to a wheel.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;

use super::place::{BUILDING, Failed, INSTALLING, MAKING_ENVIRONMENT, Place, wheel_in};
use super::process::Log;
use super::tools::Tools;
use super::{
    End, Happened, Made, MadeWheel, NotMade, Outcome, ProjectError, Settings, Why, checkout, devel,
    taken, variables, wheelhouse,
};
use crate::archive::Stage;
use crate::manifest::{Filling, python};
use crate::names::{PackageName, RelPath};
use crate::plan::{DevelTree, Plan, ProjectBuild, TakenWheel};
use crate::text::with_causes;

/// How many of a log's last lines are shown of a failure.
const TAIL: usize = 20;

/// One thing to do.
#[derive(Clone, Copy)]
enum Item<'a> {
    Taken(&'a TakenWheel),
    Devel(&'a DevelTree),
    Project(&'a ProjectBuild),
}

/// Something that was made: its wheels in the stage, and how long it took.
pub struct Product {
    wheels: Vec<PathBuf>,
    took: Duration,
}

/// What failed, with the end of its log.
pub struct Failure {
    reason: String,
    tail: Vec<String>,
}

/// Makes the things of a plan, from any thread.
pub struct Builder<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    stage: &'a Stage,
    tools: Tools,
    work: PathBuf,
    items: Vec<Item<'a>>,
    devel: OnceLock<PathBuf>,
    made: Mutex<Made>,
    report: &'a (dyn Fn(Happened) + Sync),
}

impl<'a> Builder<'a> {
    pub fn new(
        plan: &'a Plan,
        settings: &'a Settings,
        stage: &'a Stage,
        tools: Tools,
        report: &'a (dyn Fn(Happened) + Sync),
    ) -> Result<Self, ProjectError> {
        let work = stage.dest().canonicalize()?.join(
            stage.path(&path("work")?).strip_prefix(stage.dest()).unwrap_or(Path::new("work")),
        );
        fs::create_dir_all(&work)?;
        fs::create_dir_all(stage.dest().join("logs"))?;
        fs::write(work.join("pep517.py"), include_str!("pep517.py"))?;
        let items = plan.wheels.iter().map(Item::Taken).chain(plan.devel.iter().map(Item::Devel));
        let items = items.chain(plan.projects.iter().map(Item::Project)).collect();
        Ok(Self {
            plan,
            settings,
            stage,
            tools,
            work,
            items,
            devel: OnceLock::new(),
            made: Mutex::default(),
            report,
        })
    }

    /// What each thing waits for.
    pub fn order(&self) -> Vec<Vec<usize>> {
        let before = |item: &Item<'_>| match item {
            Item::Taken(_) | Item::Devel(_) => Vec::new(),
            Item::Project(project) => (0..self.items.len())
                .filter(|&other| is_before(&self.items[other], project))
                .collect(),
        };
        self.items.iter().map(before).collect()
    }

    /// Makes one thing.
    pub fn make(&self, index: usize) -> Result<Product, Failure> {
        let (item, start) = (self.items[index], Instant::now());
        let name = item.name();
        (self.report)(Happened::Started(name.to_owned()));
        let log = Log::create(self.stage.dest().join(log_of(name)));
        let log = log.map_err(|e| Failure { reason: with_causes(&e), tail: Vec::new() })?;
        let mut place = Place { directory: self.work.join(name), variables: BTreeMap::new(), log };
        match self.wheels(item, &mut place) {
            Ok(wheels) => {
                let files = wheels
                    .iter()
                    .map(|w| w.file_name().unwrap_or_default().to_string_lossy().into_owned())
                    .collect();
                (self.report)(Happened::Finished(name.to_owned(), files, start.elapsed()));
                Ok(Product { wheels, took: start.elapsed() })
            }
            Err(failed) => {
                (self.report)(Happened::Failed(name.to_owned()));
                Err(Failure { reason: failed.to_string(), tail: place.log.tail(TAIL) })
            }
        }
    }

    fn wheels(&self, item: Item<'_>, place: &mut Place) -> Result<Vec<PathBuf>, Failed> {
        self.furnish(place)?;
        let wheels = match item {
            Item::Taken(wheel) => {
                taken::bring(wheel, self.settings.sources.as_ref(), &self.tools, place)?
            }
            Item::Project(project) => vec![self.project(project, place)?],
            Item::Devel(tree) => {
                let root = devel::make(tree, self.plan, self.stage.dest(), &self.tools, place)?;
                let _ = self.devel.set(root);
                return Ok(Vec::new());
            }
        };
        let into = self.stage.path(&path("dist")?);
        let finished = wheels
            .iter()
            .map(|wheel| super::finish::finish_wheel(wheel, &into))
            .collect::<io::Result<Vec<_>>>()?;
        if let Ok(name) = item.name().parse() {
            self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name, finished.clone());
        }
        Ok(finished)
    }

    /// A directory and an environment to work in.
    fn furnish(&self, place: &mut Place) -> Result<(), Failed> {
        let temporary = place.directory.join("tmp");
        fs::create_dir_all(&temporary)?;
        let caller =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        place.variables = variables::base(caller);
        place.variables.insert("TMPDIR".to_owned(), temporary.into());
        // Else it builds in a directory with a random name, which debug information has.
        place
            .variables
            .insert("SKBUILD_BUILD_DIR".to_owned(), place.directory.join("build").into());
        place
            .variables
            .insert("CMAKE_BUILD_PARALLEL_LEVEL".to_owned(), self.processes().to_string().into());
        if self.settings.offline {
            place.variables.insert("PIP_NO_INDEX".to_owned(), "1".into());
        }
        Ok(())
    }

    /// How many processes each project may start, so that all of them together are as many as jobs.
    fn processes(&self) -> usize {
        (self.settings.jobs / self.plan.projects.len().clamp(1, self.settings.jobs.max(1))).max(1)
    }

    /// Builds a project's wheel, in a copy of its checkout.
    fn project(&self, project: &ProjectBuild, place: &mut Place) -> Result<PathBuf, Failed> {
        let source = place.directory.join("source");
        let sources =
            self.settings.sources.as_ref().ok_or_else(|| {
                Failed::new("its checkout is below --sources, which were not given")
            })?;
        checkout::copy(&sources.join(project.source.as_str()), &source)?;
        let mut offered = wheelhouse::of_artifacts(self.plan, self.stage.dest())?;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        offered.extend(wheelhouse::of_projects(&project.after, &made, self.stage.dest())?);
        wheelhouse::offer(&offered, &place.directory.join("wheelhouse"), &mut place.variables)?;
        let python = self.environment(project, place)?;
        let fill =
            |text: &str| python::fill(text, |filling| self.filled(filling, &source, &python));
        give_variables(project, place, &fill);
        self.require(
            project,
            &python,
            place,
            &project.build_requires.join("\n"),
            "build-requires",
        )?;
        for words in &project.run {
            let command: Vec<OsString> = words.iter().map(|word| fill(word).into()).collect();
            place.run_in(&source, &format!("running `{}`", words.join(" ")), &command)?;
        }
        let directory = project
            .subdirectory
            .as_ref()
            .map_or_else(|| source.clone(), |below| source.join(below.as_str()));
        variables::show_fixed_paths(&mut place.variables, &self.work, uses_setuptools(&directory));
        let out = place.directory.join("out");
        let settings = project
            .config_settings
            .iter()
            .map(|(key, values)| (key, values.iter().map(|v| fill(v)).collect()))
            .collect();
        if project.isolated {
            self.isolated(project, &directory, &python, &settings, &out, place)?;
        } else {
            self.beside(&directory, &settings, &out, place)?;
        }
        wheel_in(&out, &project.name)
    }

    fn filled(&self, filling: Filling, source: &Path, python: &Path) -> String {
        match filling {
            Filling::Devel => {
                self.devel.get().map(|root| root.display().to_string()).unwrap_or_default()
            }
            Filling::Source => source.display().to_string(),
            Filling::Python => python.display().to_string(),
            Filling::Jobs => self.processes().to_string(),
        }
    }

    /// The Python to build with: of an environment of its own, or the one that builds.
    fn environment(&self, project: &ProjectBuild, place: &mut Place) -> Result<PathBuf, Failed> {
        if !project.isolated {
            let python = self.tools.python().to_owned();
            python.parent().inspect(|bin| variables::prepend(&mut place.variables, "PATH", bin));
            return Ok(python);
        }
        let environment = place.directory.join("env");
        place.run(MAKING_ENVIRONMENT, &self.tools.venv(&environment))?;
        variables::prepend(&mut place.variables, "PATH", &environment.join("bin"));
        Ok(environment.join("bin/python"))
    }

    /// Installs requirements, one a line, where the project is built.
    fn require(
        &self,
        project: &ProjectBuild,
        python: &Path,
        place: &mut Place,
        requirements: &str,
        name: &str,
    ) -> Result<(), Failed> {
        if requirements.trim().is_empty() {
            return Ok(());
        }
        let file = place.directory.join(format!("{name}.txt"));
        fs::write(&file, requirements)?;
        let list = [OsString::from("-r"), file.into_os_string()];
        if project.isolated {
            return place.run(INSTALLING, &self.tools.install(python, list));
        }
        // What is installed beside the Python that builds is not for us to change.
        let target = place.directory.join("requires");
        let options = [OsString::from("--target"), target.clone().into_os_string()];
        place.run(INSTALLING, &self.tools.install(python, options.into_iter().chain(list)))?;
        variables::prepend(&mut place.variables, "PATH", &target.join("bin"));
        variables::prepend(&mut place.variables, "PYTHONPATH", &target);
        Ok(())
    }

    /// `python -m build` with an isolation of ours: in an environment whose path is the same for every
    /// build, since compilers write down the paths of headers that are in it.
    fn isolated(
        &self,
        project: &ProjectBuild,
        directory: &Path,
        python: &Path,
        settings: &Configured<'_>,
        out: &Path,
        place: &mut Place,
    ) -> Result<(), Failed> {
        for what in ["static", "dynamic"] {
            let file = place.directory.join(format!("{what}.txt"));
            self.hook(what, directory, python, settings, &file, place)?;
            let requirements = fs::read_to_string(&file)?;
            self.require(project, python, place, &requirements, what)?;
        }
        self.hook("wheel", directory, python, settings, out, place)
    }

    fn hook(
        &self,
        what: &str,
        directory: &Path,
        python: &Path,
        settings: &Configured<'_>,
        out: &Path,
        place: &Place,
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
            what.into(),
            directory.into(),
            python.into(),
        ];
        let command: Vec<OsString> =
            words.into_iter().chain([settings.into(), out.into()]).collect();
        let doing = if what == "wheel" { BUILDING } else { "asking what its build requires" };
        place.run_in(directory, doing, &command)
    }

    /// `python -m build` without isolation.
    fn beside(
        &self,
        directory: &Path,
        settings: &Configured<'_>,
        out: &Path,
        place: &Place,
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
        place.run_in(directory, BUILDING, &command)
    }

    /// What came of all things.
    pub fn outcome(&self, ends: Vec<End<Product, Failure>>) -> io::Result<Outcome> {
        let mut outcome = Outcome::default();
        for (item, end) in self.items.iter().zip(ends) {
            let Ok(name) = item.name().parse::<PackageName>() else { continue };
            match end {
                End::Done(product) => {
                    for wheel in &product.wheels {
                        outcome.made.push(made(&name, wheel, product.took)?);
                    }
                }
                End::Failed(Failure { reason, tail }) => {
                    outcome.not_made.push(NotMade {
                        why: Why::Failed { reason, log: path(&log_of(name.as_str())).ok(), tail },
                        name,
                    });
                }
                End::Waited(before) => {
                    let before = self.items[before].name().to_owned();
                    outcome.not_made.push(NotMade { name, why: Why::Waited { before } });
                }
            }
        }
        Ok(outcome)
    }
}

/// Whether setuptools builds it: it names it, or no backend at all (PEP 517, "build-backend").
fn uses_setuptools(directory: &Path) -> bool {
    let text = fs::read_to_string(directory.join("pyproject.toml")).unwrap_or_default();
    let backend = text.lines().find(|line| line.trim_start().starts_with("build-backend"));
    backend.is_none_or(|line| line.contains("setuptools"))
}

/// What the project is given, over all that every build sees.
fn give_variables(project: &ProjectBuild, place: &mut Place, fill: &impl Fn(&str) -> String) {
    let passed =
        project.pass.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
    place.variables.extend(passed);
    place.variables.extend(
        project.environment.iter().map(|(name, value)| (name.clone(), OsString::from(fill(value)))),
    );
}

/// What the backend is handed, with every place filled.
type Configured<'a> = BTreeMap<&'a String, Vec<String>>;

impl Item<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Taken(wheel) => wheel.name.as_str(),
            Self::Devel(_) => devel::NAME,
            Self::Project(project) => project.name.as_str(),
        }
    }
}

fn is_before(item: &Item<'_>, project: &ProjectBuild) -> bool {
    match item {
        Item::Devel(_) => project.devel,
        Item::Taken(_) | Item::Project(_) => {
            project.after.iter().any(|name| name.as_str() == item.name())
        }
    }
}

fn made(name: &PackageName, wheel: &Path, took: Duration) -> io::Result<MadeWheel> {
    let path = path(&format!("dist/{}", wheel.file_name().unwrap_or_default().to_string_lossy()))?;
    Ok(MadeWheel { name: name.clone(), path, size: fs::metadata(wheel)?.len(), took })
}

fn log_of(name: &str) -> String {
    format!("logs/{name}.log")
}

fn path(text: &str) -> io::Result<RelPath> {
    text.parse().map_err(|e: crate::names::PathError| io::Error::other(e.to_string()))
}
