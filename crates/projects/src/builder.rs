//! Makes the wheels of a plan's projects, from any thread.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;

use super::item::{Item, is_before, trials};
use super::parts::Part;
use super::place::{self, Place};
use super::product::{Keeper, Product as KeptProduct};
use super::project::{self, Site};
use super::snapshot::Snapshot;
use super::tools::Tools;
use super::trial::{self, Ran, TrialKind};
use super::workspace::{self, Failed, TAIL, Workspace};
use super::{
    Happened, MissingPrograms, ProjectError, Settings, WheelPaths, again, compilers, complaints,
    devel, dirty, finish, finished_wheel, lock, prefixes, private, recorded, wheelhouse,
};
use base::names::{PackageName, RelPath};
use base::text::with_causes;
use plan::{Plan, ProjectBuild, Trial};
use record::gate::{Gate, GateError};
use record::provenance::ProjectInputs;
use wheel::archive::Stage;

mod begun;
mod outcome;

use begun::ResolvedProject;

/// Result of an item.
pub(crate) struct Product {
    wheels: Vec<PathBuf>,
    took: Duration,
    is_reused: bool,
    /// Result of tests or documentation.
    ran: Option<Ran>,
}

pub struct Failure {
    reason: String,
    /// Last lines of the log.
    tail: Vec<String>,
}

/// Makes the items of a plan: wheels, the devel tree, projects, and their tests and documentation.
pub struct Builder<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    stage: &'a Stage,
    tools: Tools,
    work: PathBuf,
    /// Keeps `work` locked, and removes it at the end.
    _place: Place,
    items: Vec<Item<'a>>,
    devel: OnceLock<PathBuf>,
    made: Mutex<WheelPaths>,
    inputs: Mutex<BTreeMap<PackageName, ProjectInputs>>,
    keeper: Keeper<'a>,
    /// Projects with the absent program that builds them.
    missing: MissingPrograms,
    /// Items with resolved requirements, until they are made.
    begun: Mutex<BTreeMap<usize, Result<ResolvedProject, Failure>>>,
    gate: &'a Gate<'a>,
    report: &'a (dyn Fn(Happened) + Sync),
}

impl<'a> Builder<'a> {
    pub fn new(
        plan: &'a Plan,
        settings: &'a Settings,
        stage: &'a Stage,
        tools: Tools,
        gate: &'a Gate<'a>,
        report: &'a (dyn Fn(Happened) + Sync),
    ) -> Result<Self, ProjectError> {
        let kept_work = stage.dest().canonicalize()?.join("work");
        let kept_work = settings.keep_work.then_some(kept_work);
        let place = place::take(settings, kept_work.as_deref(), report)?;
        let work = place.path().to_owned();
        fs::create_dir_all(&work)?;
        fs::create_dir_all(stage.dest().join("logs"))?;
        fs::write(work.join("pep517.py"), include_str!("pep517.py"))?;
        let keeper = Keeper::survey(plan, settings, &stage.dest().canonicalize()?, &work, &tools)?;
        prefixes::restore(plan, keeper.directory(), &work)?;
        // If all projects are kept, none is built against the tree.
        let devel = plan.devel.iter().filter(|_| {
            plan.projects.iter().any(|project| project.devel && !keeper.has_product(&project.name))
        });
        let items = plan.wheels.iter().map(Item::Wheel).chain(devel.map(Item::Devel));
        let items = items.chain(plan.projects.iter().map(Item::Project));
        let items = items.chain(plan.projects.iter().flat_map(|p| trials(p, settings))).collect();
        Ok(Self {
            plan,
            settings,
            stage,
            tools,
            work,
            _place: place,
            items,
            devel: settings.installed.clone().map_or_else(OnceLock::new, OnceLock::from),
            made: Mutex::new(wheelhouse::of_others(plan, &stage.dest().canonicalize()?)?),
            inputs: Mutex::default(),
            keeper,
            missing: compilers::missing_programs(plan, settings),
            begun: Mutex::default(),
            gate,
            report,
        })
    }

    /// Indices of the items that each item needs.
    pub fn order(&self) -> Vec<Vec<usize>> {
        let before = |item: &Item<'_>| match item {
            Item::Wheel(_) | Item::Devel(_) => Vec::new(),
            Item::Project(project) => self.indices(|other| is_before(other, project)),
            Item::Trial(project, ..) => self.indices(
                |other| matches!(other, Item::Project(other) if other.name == project.name),
            ),
        };
        self.items.iter().map(before).collect()
    }

    fn indices(&self, is_chosen: impl Fn(&Item<'_>) -> bool) -> Vec<usize> {
        (0..self.items.len()).filter(|&index| is_chosen(&self.items[index])).collect()
    }

    /// Makes an item, or takes it over from an earlier build.
    pub fn make(&self, index: usize, processes: usize) -> Result<Product, Failure> {
        let (item, start) = (self.items[index], Instant::now());
        if let Item::Project(project) = item
            && let Some(product) = self.keeper.product(&project.name)
        {
            return self.keep(project, product, start);
        }
        let label = item.label();
        let resolved = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        let ResolvedProject { mut place, parts, took } = match resolved {
            Some(resolved) => resolved?,
            None => {
                ResolvedProject { place: self.open(item)?, parts: Vec::new(), took: Duration::ZERO }
            }
        };
        (self.report)(Happened::Started(label.clone()));
        let result = match item {
            Item::Trial(project, kind, trial) => {
                let ran = self.run_trial(project, kind, trial, &mut place, processes);
                ran.map(|ran| (Vec::new(), Some(ran)))
            }
            _ => self.wheels(item, parts, &mut place, processes).map(|wheels| (wheels, None)),
        };
        match result {
            Ok((wheels, ran)) => {
                self.clear(item, &place);
                let took = took + start.elapsed();
                (self.report)(Happened::Finished(label, names(&wheels), took));
                Ok(Product { wheels, took, is_reused: false, ran })
            }
            Err(failed) => {
                let failure = self.failure(item, &place, failed);
                (self.report)(Happened::Failed(label));
                Err(failure)
            }
        }
    }

    /// Completes the log of a failed item: first errors at its start, the command that repeats it
    /// at its end.
    fn failure(&self, item: Item<'_>, place: &Workspace, failed: Failed) -> Failure {
        let failed = failed.or_full(&place.directory);
        let complaints = self.complaints(item, place);
        self.clear(item, place);
        let tail = complaints::put_before(&complaints, place.log.tail(TAIL));
        let _ = place.log.write_line(&format!("error: {failed}\n{}", rerun_line(&item)));
        if !complaints.is_empty() {
            let _ = place.log.begin_with(&format!("{failed}:\n{}", complaints.join("\n")));
        }
        Failure { reason: failed.to_string(), tail }
    }

    /// Removes the directory of an item unless it is kept. A failed build may have filled the disk.
    fn clear(&self, item: Item<'_>, place: &Workspace) {
        if !matches!(item, Item::Devel(_)) && !self.keeps_work(item) {
            let _ = fs::remove_dir_all(&place.directory);
        }
    }

    fn lock(&self, item: &Item<'_>) -> Option<lock::ItemLock> {
        let is_locked = matches!(item, Item::Project(_) | Item::Trial(..));
        let lock = self.settings.lock.as_ref().filter(|_| is_locked)?;
        Some(lock::ItemLock::new(lock, &item.label()))
    }

    fn keeps_work(&self, item: Item<'_>) -> bool {
        self.settings.keep_work
            && match item {
                Item::Project(project) => project.isolated,
                Item::Devel(_) => true,
                Item::Wheel(_) | Item::Trial(..) => false,
            }
    }

    /// First errors of the log, in files of a copied source at their place in the checkout.
    fn complaints(&self, item: Item<'_>, place: &Workspace) -> Vec<String> {
        let errors = complaints::first_errors(&place.log.text());
        let Item::Project(project) = item else { return errors };
        let Some(sources) = &self.settings.sources else { return errors };
        let copy = place.directory.join("source");
        let checkout = sources.join(project.source.as_str());
        let within = project.subdirectory.as_ref().map_or("", |below| below.as_str());
        errors.iter().map(|line| complaints::placed(line, &copy, &checkout, within)).collect()
    }

    /// Takes over the product of an earlier build.
    fn keep(
        &self,
        project: &ProjectBuild,
        product: &KeptProduct,
        start: Instant,
    ) -> Result<Product, Failure> {
        let fail = |e: io::Error| Failure { reason: with_causes(&e), tail: Vec::new() };
        let into = self.stage.path(&path("dist").map_err(fail)?);
        let wheels = product.take(self.stage.dest(), &into).map_err(fail)?;
        // Again, because an earlier build may have allowed findings that this one rejects.
        let passed = self.gate.check(wheels.iter().map(PathBuf::as_path));
        passed.map_err(|e| Failure { reason: with_causes(&e), tail: Vec::new() })?;
        (self.report)(Happened::Reused(project.name.to_string()));
        if let Some(inputs) = product.inputs() {
            self.record_inputs(&project.name, inputs.clone());
        }
        self.record_wheels(project.name.as_str(), &wheels);
        Ok(Product { wheels, took: start.elapsed(), is_reused: true, ran: None })
    }

    fn wheels(
        &self,
        item: Item<'_>,
        parts: Vec<Part>,
        place: &mut Workspace,
        processes: usize,
    ) -> Result<Vec<PathBuf>, Failed> {
        project::furnish(place, processes)?;
        let wheels = match item {
            Item::Wheel(wheel) => {
                finished_wheel::bring(wheel, self.settings.sources.as_ref(), &self.tools, place)?
            }
            Item::Project(project) => {
                self.keeper.forget(&project.name)?;
                let made = self.site(project, processes)?.build_all(parts, place)?;
                if project.native.is_some() {
                    prefixes::keep(&self.work, &project.name, self.keeper.directory())?;
                }
                workspace::copy_wheels(&made, &place.directory.join("taken"), &project.name)?
            }
            Item::Devel(tree) => {
                if !self.settings.unconfined {
                    private::confine_steps(place)?;
                }
                let key = self.settings.keep_work.then(|| self.keeper.common());
                let root =
                    devel::make(tree, self.plan, self.stage.dest(), &self.tools, key, place)?;
                let _ = self.devel.set(root);
                return Ok(Vec::new());
            }
            Item::Trial(..) => return Ok(Vec::new()),
        };
        let wheels = self.marked(item, wheels, place)?;
        let set = self.required(item)?;
        let into = self.stage.path(&path("dist")?);
        let at_most = match item {
            Item::Project(project) => project.at_most.as_deref(),
            _ => None,
        };
        let finished = wheels
            .iter()
            .map(|wheel| finish::finish_wheel(wheel, &set, &into, at_most))
            .collect::<io::Result<Vec<_>>>()?;
        self.check_gate(&finished, place)?;
        self.record_wheels(item.name(), &finished);
        if let Item::Project(project) = item {
            let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut used = std::mem::take(&mut place.used);
            used.tools.extend(self.keeper.installed().map(|tree| ("devel".to_owned(), tree)));
            let inputs = recorded::inputs(project, self.sources()?, self.checkout(project)?, used)?;
            write_lock(place, Some((&inputs, &self.prefetched(project)?)))?;
            self.keeper.write(project, &finished, &made, inputs.clone())?;
            self.record_inputs(&project.name, inputs);
        }
        Ok(finished)
    }

    /// Marks the wheels of a checkout with local changes.
    fn marked(
        &self,
        item: Item<'_>,
        wheels: Vec<PathBuf>,
        place: &Workspace,
    ) -> Result<Vec<PathBuf>, Failed> {
        let Item::Project(project) = item else { return Ok(wheels) };
        if !self.checkout(project)?.content.is_dirty() {
            return Ok(wheels);
        }
        let into = place.directory.join("dirty");
        wheels.iter().map(|wheel| dirty::marked(wheel, &into)).collect()
    }

    /// Fails with the findings of the gate in the log.
    fn check_gate(&self, wheels: &[PathBuf], place: &Workspace) -> Result<(), Failed> {
        let passed = self.gate.check(wheels.iter().map(PathBuf::as_path));
        if let Err(GateError::Refused(findings)) = &passed {
            findings.iter().try_for_each(|finding| place.log.write_line(&finding.to_string()))?;
        }
        passed.map_err(|error| Failed::new(with_causes(&error)))
    }

    /// Runs tests or documentation; moves complete documentation to the destination.
    fn run_trial(
        &self,
        project: &ProjectBuild,
        kind: TrialKind,
        commands: &Trial,
        place: &mut Workspace,
        processes: usize,
    ) -> Result<Ran, Failed> {
        project::furnish(place, processes)?;
        if !self.settings.unconfined {
            private::confine(place, project, None, &self.settings.protected)?;
        }
        let dest = self.stage.dest();
        let mut offered = self.required(Item::Project(project))?;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        offered.extend(wheelhouse::of_projects(slice::from_ref(&project.name), &made, dest)?);
        let site = trial::Site {
            project,
            kind,
            sources: self.sources()?,
            checkout: self.checkout(project)?,
            offered,
            declared: &self.settings.declared,
            tools: &self.tools,
            installed: self.settings.installed.as_deref(),
            processes,
        };
        let ran = site.run(commands, place)?;
        write_lock(place, None)?;
        if kind == TrialKind::Docs && ran.passed > 0 {
            trial::store_docs(&place.directory.join("docs"), &dest.join("docs"), &project.name)?;
        }
        Ok(ran)
    }

    fn sources(&self) -> Result<&Path, Failed> {
        let sources = self.settings.sources.as_deref();
        sources.ok_or_else(|| Failed::new("its checkout is below --sources, which is not set"))
    }

    fn record_inputs(&self, name: &PackageName, inputs: ProjectInputs) {
        let mut inputs_by_name = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs_by_name.insert(name.clone(), inputs);
    }

    fn checkout(&self, project: &ProjectBuild) -> Result<&Snapshot, Failed> {
        let checkout = self.keeper.source(&project.name);
        checkout.ok_or_else(|| Failed::new("its checkout was not read"))
    }

    fn record_wheels(&self, name: &str, wheels: &[PathBuf]) {
        if let Ok(name) = name.parse() {
            self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name, wheels.to_vec());
        }
    }

    /// Wheels of this build that an item may install.
    fn required(&self, item: Item<'_>) -> io::Result<Vec<PathBuf>> {
        let Item::Project(project) = item else { return Ok(Vec::new()) };
        let mut offered = wheelhouse::of_artifacts(self.plan, self.stage.dest())?;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        offered.extend(wheelhouse::of_projects(&project.after, &made, self.stage.dest())?);
        Ok(offered)
    }

    fn site<'s>(&'s self, project: &'s ProjectBuild, processes: usize) -> Result<Site<'s>, Failed> {
        Ok(Site {
            project,
            sources: self.sources()?,
            checkout: self.checkout(project)?,
            offered: self.required(Item::Project(project))?,
            declared: &self.settings.declared,
            tools: &self.tools,
            work: &self.work,
            prefixes: self.work.join(prefixes::DIRECTORY),
            devel: self.devel.get().map(PathBuf::as_path),
            processes,
            version: None,
            work_key: self.work_key(project)?,
        })
    }

    fn work_key(&self, project: &ProjectBuild) -> io::Result<Option<String>> {
        if !self.keeps_work(Item::Project(project)) {
            return Ok(None);
        }
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.keeper.work_key(project, &made).map(Some)
    }
}

fn names(wheels: &[PathBuf]) -> Vec<String> {
    let name =
        |wheel: &PathBuf| wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    wheels.iter().map(name).collect()
}

/// Last line of a failed log: the command that builds only this item.
fn rerun_line(item: &Item<'_>) -> String {
    let passed = match item {
        Item::Project(project) | Item::Trial(project, ..) => &*project.pass,
        Item::Wheel(_) | Item::Devel(_) => &[],
    };
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let directory = std::env::current_dir().unwrap_or_default();
    let line = again::line(item.name(), std::env::args_os(), &directory, variables, passed);
    format!("to build it alone again: {line}")
}

fn log_of(name: &str) -> String {
    format!("logs/{name}.log")
}

fn path(text: &str) -> io::Result<RelPath> {
    text.parse().map_err(|e: base::names::PathError| io::Error::other(e.to_string()))
}

/// Writes the list of the wheels that a build fetched, unless `--locked` uses the list.
fn write_lock(
    place: &Workspace,
    of_build: Option<(&ProjectInputs, &lock::Digests)>,
) -> Result<(), Failed> {
    let lock = place.lock.as_ref().filter(|lock| !lock.is_fixed());
    lock.map_or(Ok(()), |lock| lock.write(&place.directory, of_build))
}
