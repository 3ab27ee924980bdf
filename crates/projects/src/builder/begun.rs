//! Projects whose requirements are resolved before the first build.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;

use super::super::item::{Item, is_before};
use super::super::parts::Part;
use super::super::process::Log;
use super::super::used::Used;
use super::super::workspace::{Failed, Workspace};
use super::super::{Happened, lock, resume, schedule, wheelhouse};
use super::{Builder, Failure, log_of};
use base::regular;
use base::text::with_causes;
use plan::ProjectBuild;

/// A project whose requirements were resolved.
pub struct ResolvedProject {
    pub place: Workspace,
    pub parts: Vec<Part>,
    pub took: Duration,
}

impl<'a> Builder<'a> {
    /// Resolves the requirements of all projects that are built, so that a missing one is an error
    /// before the first compiler runs.
    pub fn resolve(&self) {
        let is_built = |item: &Item<'_>| matches!(item, Item::Project(project) if !self.keeper.has_product(&project.name));
        let built = self.indices(is_built);
        (self.report)(Happened::Resolving(built.len()));
        let after = vec![Vec::new(); built.len()];
        schedule::run(&after, self.settings.jobs, |index, processes| {
            let item = self.items[built[index]];
            let begun = self.begin(item, processes);
            if begun.is_err() {
                (self.report)(Happened::Failed(item.label()));
            }
            let mut begun_items = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun_items.insert(built[index], begun);
            Ok::<(), ()>(())
        });
    }

    fn begin(&self, item: Item<'a>, processes: usize) -> Result<ResolvedProject, Failure> {
        let start = Instant::now();
        let mut place = self.open(item)?;
        match self.parts(item, &mut place, processes) {
            Ok(parts) => Ok(ResolvedProject { place, parts, took: start.elapsed() }),
            Err(failed) => Err(self.failure(item, &place, failed)),
        }
    }

    fn parts(
        &self,
        item: Item<'a>,
        place: &mut Workspace,
        processes: usize,
    ) -> Result<Vec<Part>, Failed> {
        let Item::Project(project) = item else { return Ok(Vec::new()) };
        if let Some(program) = self.missing.get(&project.name) {
            let reason = format!("it is built with {program}, which does not exist");
            return Err(Failed::new(reason));
        }
        if let Some(lock) = place.lock.as_ref().filter(|lock| lock.is_fixed()) {
            lock.check(self.checkout(project)?, &self.prefetched(project)?)?;
        }
        let is_free = !self
            .items
            .iter()
            .any(|item| is_before(item, project) && !matches!(item, Item::Devel(_)));
        self.site(project, processes)?.begin(self.settings, is_free, place)
    }

    /// Prefetched wheels that a project is built after.
    pub fn prefetched(&self, project: &ProjectBuild) -> io::Result<lock::Digests> {
        let dest = self.stage.dest();
        let names = self.plan.prefetched.iter().map(|wheel| &wheel.name);
        let mut digests = lock::Digests::new();
        for name in names.filter(|name| project.after.contains(name)) {
            for wheel in wheelhouse::of_other(dest, name)? {
                let file = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
                digests.insert(file, regular::sha256(&wheel)?);
            }
        }
        Ok(digests)
    }

    /// Opens the log and the directory of an item.
    pub fn open(&self, item: Item<'_>) -> Result<Workspace, Failure> {
        let label = item.label();
        let fail = |e: io::Error| Failure { reason: with_causes(&e), tail: Vec::new() };
        let log = Log::create(self.stage.dest().join(log_of(&label))).map_err(fail)?;
        let directory = self.work.join(&label);
        self.tidy(item, &directory).map_err(fail)?;
        Ok(Workspace {
            directory,
            variables: BTreeMap::new(),
            log,
            used: Used::default(),
            lock: self.lock(&item),
            constraints: constraints(&item),
            reach: None,
            downloads: Mutex::default(),
        })
    }

    fn tidy(&self, item: Item<'_>, directory: &Path) -> io::Result<()> {
        match item {
            Item::Project(project) if self.keeps_work(item) && !self.settings.rebuild => {
                let versions = project.pythons.iter().map(|version| directory.join(version));
                versions.chain([directory.to_owned()]).try_for_each(|place| resume::tidy(&place))
            }
            Item::Devel(_) if self.keeps_work(item) => resume::tidy(directory),
            _ if directory.is_dir() => fs::remove_dir_all(directory),
            _ => Ok(()),
        }
    }
}

fn constraints(item: &Item<'_>) -> Vec<String> {
    match item {
        Item::Project(project) | Item::Trial(project, ..) => project.constraints.clone(),
        Item::Wheel(_) | Item::Devel(_) => Vec::new(),
    }
}
