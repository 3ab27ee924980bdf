//! Wheels from other providers, fetched into `DEST/wheelhouse` before any build.
//!
//! A file next to each has a hash of its origin; with an unchanged hash nothing is fetched.
//! `constraints.txt` makes pip and uv prefer these wheels over any index.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fs_err as fs;

use super::fingerprint::Fingerprint;
use super::process::Log;
use super::product::Product;
use super::requirements::Requirements;
use super::tools::Tools;
use super::used::Used;
use super::workspace::{Failed, TAIL, Workspace, wheels_in};
use super::{
    End, Happened, MissingReason, NotMade, ProjectError, Settings, finished_wheel, place, private,
    project, repositories, schedule, wheel_of, wheelhouse,
};
use base::names::RelPath;
use base::regular;
use base::text::with_causes;
use plan::{Plan, PrefetchedWheel};
use wheel::archive::Stage;

/// Fetches all wheels; otherwise returns the unavailable ones and changes nothing.
pub fn fill(
    plan: &Plan,
    settings: &Settings,
    tools: &Tools,
    stage: &Stage,
    report: &(dyn Fn(Happened) + Sync),
) -> Result<Vec<NotMade>, ProjectError> {
    let dest = stage.dest().canonicalize()?;
    let place = place::take(settings, None, report)?;
    let work = place.path().to_owned();
    fs::create_dir_all(dest.join("logs"))?;
    let fetcher = Fetcher { plan, settings, tools, dest: &dest, work, report };
    let dependencies = vec![Vec::new(); plan.prefetched.len()];
    let ends = schedule::run(&dependencies, settings.jobs, |index, _| {
        fetcher.bring(&plan.prefetched[index])
    });
    let (mut brought, mut missing) = (Vec::new(), Vec::new());
    for (wheel, end) in plan.prefetched.iter().zip(ends) {
        match end {
            End::Done(product) => brought.extend(product.map(|product| (wheel, product))),
            End::Failed((reason, tail)) => missing.push(NotMade {
                name: wheel.name.clone(),
                trial: None,
                why: MissingReason::Failed { reason, log: relative(&log_of(wheel)).ok(), tail },
            }),
            End::Waited(_) => {}
        }
    }
    if missing.is_empty() {
        for (wheel, product) in brought {
            fetcher.store(wheel, &product)?;
        }
        constrain(&dest)?;
    }
    Ok(missing)
}

struct Fetcher<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    tools: &'a Tools,
    dest: &'a Path,
    work: PathBuf,
    report: &'a (dyn Fn(Happened) + Sync),
}

struct Fetched {
    key: String,
    wheels: Vec<PathBuf>,
}

impl Fetcher<'_> {
    fn bring(&self, wheel: &PrefetchedWheel) -> Result<Option<Fetched>, (String, Vec<String>)> {
        let start = Instant::now();
        let bare = |e: io::Error| (with_causes(&e), Vec::new());
        let name = wheel.name.to_string();
        let key = self.key(wheel).map_err(bare)?;
        if !self.settings.rebuild && self.is_unchanged(wheel, &key) {
            (self.report)(Happened::Reused(name));
            return Ok(None);
        }
        (self.report)(Happened::Started(name.clone()));
        let log = Log::create(self.dest.join(log_of(wheel))).map_err(bare)?;
        let directory = self.work.join(&name);
        let mut place = Workspace {
            directory,
            variables: BTreeMap::new(),
            log,
            used: Used::default(),
            lock: None,
            constraints: Vec::new(),
            reach: None,
            downloads: Mutex::default(),
        };
        match self.fetch(wheel, &mut place) {
            Ok(wheels) => {
                self.report_finished(name, &wheels, start.elapsed());
                Ok(Some(Fetched { key, wheels }))
            }
            Err(failed) => {
                (self.report)(Happened::Failed(name));
                let tail = place.log.tail(TAIL);
                let _ = place.log.write_line(&format!("error: {failed}"));
                Err((failed.to_string(), tail))
            }
        }
    }

    fn report_finished(&self, name: String, wheels: &[PathBuf], took: Duration) {
        (self.report)(Happened::Finished(
            name,
            wheels.iter().map(|w| file_name(w)).collect(),
            took,
        ));
    }

    fn fetch(
        &self,
        wheel: &PrefetchedWheel,
        place: &mut Workspace,
    ) -> Result<Vec<PathBuf>, Failed> {
        project::furnish(place, 1)?;
        if !self.settings.unconfined {
            private::confine_steps(place)?;
        }
        let out = place.directory.join("out");
        fs::create_dir_all(&out)?;
        if let Some(requirement) = &wheel.requirement {
            for version in self.versions(wheel) {
                self.fetch_wheel(wheel, requirement, version, &out, place)?;
            }
        } else {
            finished_wheel::copy(&wheel.files, self.settings.sources.as_ref(), &out, place)?;
        }
        let wheels = wheels_in(&out, &wheel.name)?;
        if wheels.is_empty() {
            return Err(Failed::new("no wheel was downloaded"));
        }
        Ok(wheels)
    }

    fn fetch_wheel(
        &self,
        wheel: &PrefetchedWheel,
        requirement: &str,
        version: Option<&str>,
        out: &Path,
        place: &mut Workspace,
    ) -> Result<(), Failed> {
        let required = Requirements {
            tools: self.tools,
            version,
            offered: &[],
            declared: &self.settings.declared,
        };
        let python = required.fetching_python(place)?;
        if let Some(index) = &wheel.index {
            place.variables.insert("PIP_INDEX_URL".to_owned(), index.into());
            place.variables.insert("PIP_EXTRA_INDEX_URL".to_owned(), OsString::new());
        }
        if wheel.is_built() {
            let source = repositories::fetch(requirement, place)?;
            return required.build_source(&source, &python, out, place);
        }
        let words = ["download", "--no-deps", "--only-binary=:all:", "--dest"].map(OsString::from);
        let words = words.into_iter().chain([out.into(), requirement.into()]);
        place.fetch("fetching it", &self.tools.pip_alone(&python, words))
    }

    /// Python versions of dependent projects; `None` for the building Python.
    fn versions(&self, wheel: &PrefetchedWheel) -> BTreeSet<Option<&str>> {
        let projects = self.plan.projects.iter().filter(|p| p.after.contains(&wheel.name));
        let mut versions = BTreeSet::new();
        for project in projects {
            versions.extend(project.pythons.iter().map(|version| Some(version.as_str())));
            if project.pythons.is_empty() && project.native.is_none() {
                versions.insert(None);
            }
        }
        versions
    }

    fn key(&self, wheel: &PrefetchedWheel) -> io::Result<String> {
        let mut key = Fingerprint::new("prefetch");
        let plain = PrefetchedWheel { rule: "".into(), ..wheel.clone() };
        key.add(&serde_json::to_string(&plain).map_err(io::Error::other)?);
        if let Some(root) = &self.settings.sources {
            for file in &wheel.files {
                key.add(&regular::sha256(root.join(file.as_str()))?);
            }
        }
        key.add(self.tools.identity());
        for version in self.versions(wheel) {
            key.add(version.map_or("", |version| self.tools.interpreter_identity(version)));
        }
        Ok(key.end())
    }

    fn is_unchanged(&self, wheel: &PrefetchedWheel, key: &str) -> bool {
        let name = wheel.name.as_str();
        let directory = self.dest.join(wheelhouse::OTHERS);
        let product = Product::read(&state(self.dest, name));
        product.is_some_and(|product| product.is_of(key) && product.has_wheels_in(&directory))
    }

    fn store(&self, wheel: &PrefetchedWheel, fetched: &Fetched) -> io::Result<()> {
        let directory = self.dest.join(wheelhouse::OTHERS);
        let state = state(self.dest, wheel.name.as_str());
        fs::create_dir_all(&directory)?;
        if state.exists() {
            fs::remove_file(&state)?;
        }
        for old in wheelhouse::of_other(self.dest, &wheel.name)? {
            fs::remove_file(old)?;
        }
        let mut wheels = Vec::new();
        for file in &fetched.wheels {
            let place = directory.join(file_name(file));
            // A new file: code of a repository may have linked its own.
            io::copy(&mut regular::open(file)?, &mut fs::File::create(&place)?)?;
            wheels.push(place);
        }
        Product::of_wheels(fetched.key.clone(), &wheels)?.write(&state)
    }
}

fn constrain(dest: &Path) -> io::Result<()> {
    let house = dest.join(wheelhouse::OTHERS);
    let wheels = wheelhouse::in_directory(&house, |file| wheel_of(file).is_some())?;
    let lines = wheelhouse::constraints(&wheels);
    fs::write(house.join("constraints.txt"), lines.join("\n") + "\n")
}

fn state(dest: &Path, name: &str) -> PathBuf {
    dest.join(wheelhouse::OTHERS).join(format!("{name}.json"))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn log_of(wheel: &PrefetchedWheel) -> String {
    format!("logs/{}.prefetch.log", wheel.name)
}

fn relative(text: &str) -> io::Result<RelPath> {
    text.parse().map_err(|e: base::names::PathError| io::Error::other(e.to_string()))
}
