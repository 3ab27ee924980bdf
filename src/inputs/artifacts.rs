//! Where artifacts are, what is demanded of them, and how they come here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::event::{Event, Reporter};
use base::names::System;
use base::source::{Code, Problem, Problems, nearest};
use index::fetch::{RemoteArchive, Selection};
use index::store::{self, Access, Bucket, ErrorKind, StoreError};
use manifest::{DOWNLOADS, Manifest, RunName, StoreRule};
use plan::catalog::{
    self, Catalog, Demands, Directory, Lock, Locked, Origin, Packed, Source, Taken, Wanted,
    archive_of, unchecked,
};
use plan::resolve;
use plan::{Plan, Request};

use super::{near, pool};
use crate::cli::{ArtifactArgs, CatalogArgs, DemandArgs};
use crate::failure::Failure;
use crate::ui;

/// The lock file that `--locked` takes when none is named.
const LOCK: &str = "rockpack.lock";

/// The artifacts that a command asks for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// A directory, or the address of a run.
    pub place: Option<&'a Path>,
    /// A store of the manifest.
    pub store: Option<&'a str>,
    /// How they are taken.
    pub args: &'a ArtifactArgs,
    /// Says where stores are, and which artifacts packages need.
    pub manifest: Option<&'a Manifest>,
    /// What packages are made of them; without it all archives of a run are taken.
    pub request: Option<&'a Request>,
    /// The system that `{system}` in an address is.
    pub system: Option<System>,
    /// Tell what is absent.
    pub verbose: bool,
}

impl<'a> Asked<'a> {
    /// What packages of a manifest need.
    pub fn new(
        catalog: &'a CatalogArgs,
        args: &'a ArtifactArgs,
        manifest: &'a Manifest,
        request: &'a Request,
        verbose: bool,
    ) -> Self {
        Self {
            place: catalog.artifact_dir.as_deref(),
            store: catalog.store.as_deref(),
            args,
            manifest: Some(manifest),
            request: Some(request),
            system: request.system,
            verbose,
        }
    }

    /// Returns the line of the store.
    fn rule(&self) -> Option<&'a StoreRule> {
        let name = self.store?;
        self.manifest?.stores.iter().find(|rule| *rule.name == name)
    }

    /// Returns the number of archives that are read at a time.
    pub fn downloads(&self) -> Option<u16> {
        u16::try_from(self.rule().map_or(DOWNLOADS, |rule| rule.downloads)).ok()
    }
}

/// A run in a store.
pub struct Run {
    /// Where it is.
    pub bucket: Arc<dyn Bucket>,
    /// Its address.
    pub address: String,
}

/// Reads what the artifacts hold.
pub fn scan(asked: Asked<'_>) -> Result<(Catalog, Box<dyn Source>), Failure> {
    let demands = demands(asked)?;
    let directory = match run(asked)? {
        Some(run) => unpacked(&run, asked, &demands, None)?,
        None => local(asked.place, &demands, None)?,
    };
    let source = concluded(asked, &demands, directory)?;
    let catalog = catalog::read(&*source)?;
    if asked.verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok((catalog, source))
}

/// Reads the files that a plan takes, whose catalog was saved: of archives nothing else is unpacked.
///
/// # Errors
/// As [`scan`], and when a file is not what the catalog says.
pub fn planned(
    asked: Asked<'_>,
    catalog: &Catalog,
    plan: &Plan,
) -> Result<Box<dyn Source>, Failure> {
    let demands = demands(asked)?;
    let files: Vec<&Origin> = plan.sources().collect();
    let wanted = Wanted::of(catalog, files.iter().copied());
    let directory = match run(asked)? {
        Some(run) => unpacked(&run, asked, &demands, Some(&wanted))?,
        None => local(asked.place, &demands, Some(&wanted))?,
    };
    let source = concluded(asked, &demands, directory)?;
    catalog::confirm(&*source, catalog, files)?;
    Ok(source)
}

/// Says what is doubtful of artifacts that are there, and writes the lock file.
fn concluded(
    asked: Asked<'_>,
    demands: &Demands,
    directory: Directory,
) -> Result<Box<dyn Source>, Failure> {
    ui::show_problems(&directory.warnings());
    conclude(&asked.args.demands, demands, &directory)?;
    Ok(Box::new(directory))
}

/// The artifacts in a directory of this machine.
fn local(
    dir: Option<&Path>,
    demands: &Demands,
    wanted: Option<&Wanted>,
) -> Result<Directory, Failure> {
    Ok(Directory::open_some(directory(dir)?, demands, wanted)?)
}

/// The directory that artifacts are in.
///
/// # Errors
/// When there is none.
pub fn directory(dir: Option<&Path>) -> Result<&Path, Failure> {
    let dir = dir.ok_or_else(|| {
        Problem::usage(Code::Environment, "no artifacts are named, and this command reads them")
            .help("name them: --artifact-dir DIR, or --store NAME --run ID")
    })?;
    if !dir.is_dir() {
        let what = if dir.exists() { "is not a directory" } else { "does not exist" };
        return Err(Problem::error(
            Code::Environment,
            format!("artifact directory {} {what}", dir.display()),
        )
        .help(format!(
            "{}--artifact-dir takes the directory that holds base_lib_generic and the like",
            near(dir)
        ))
        .into());
    }
    Ok(dir)
}

/// The artifacts of a run, unpacked while they come.
fn unpacked(
    run: &Run,
    asked: Asked<'_>,
    demands: &Demands,
    wanted: Option<&Wanted>,
) -> Result<Directory, Failure> {
    let selection = select(run, asked, demands)?;
    check(&selection, demands)?;
    let is_wanted = |archive: &RemoteArchive| {
        let id = archive_of(archive.key());
        wanted.is_none_or(|wanted| id.is_none_or(|id| wanted.takes(&id)))
    };
    let mut archives = selection.archives(&run.bucket);
    archives.retain(is_wanted);
    let done = with_progress(&archives, asked, |archives| {
        let packed = archives.into_iter().map(|archive| Box::new(archive) as Box<dyn Packed>);
        Directory::unpack(&packed.collect::<Vec<_>>(), demands, wanted)
    })?;
    Ok(done?)
}

/// Works on archives with a progress line, on as many at a time as the store allows.
pub fn with_progress<T: Send>(
    archives: &[RemoteArchive],
    asked: Asked<'_>,
    work: impl FnOnce(Vec<RemoteArchive>) -> T + Send,
) -> Result<T, Problem> {
    let pool = pool(asked.downloads())?;
    let progress = Arc::new(ui::Progress::new());
    let bytes = archives.iter().map(RemoteArchive::size).sum();
    progress.report(Event::FetchStarted { archives: archives.len(), bytes });
    let heard = archives.iter().map(|archive| archive.clone().heard_by(progress.clone())).collect();
    let done = pool.install(|| work(heard));
    progress.clear();
    Ok(done)
}

/// What of a run is needed.
///
/// # Errors
/// When the store cannot be asked, or there is no archive.
pub fn select(run: &Run, asked: Asked<'_>, demands: &Demands) -> Result<Selection, Failure> {
    let bucket = &*run.bucket;
    let selection = match asked.manifest.zip(asked.request) {
        Some((manifest, request)) => {
            let request = Request { system: request.system.or(system_of(run)), ..request.clone() };
            let locked: Vec<&str> = demands.lock.iter().flat_map(Locked::needed).collect();
            // What has no list is asked for each key.
            let pool = pool(asked.downloads())?;
            pool.install(|| Selection::of_run(bucket, manifest, &request, &locked))
        }
        None => Selection::all(bucket),
    };
    let selection = selection.map_err(|error| failed(&error, &run.address))?;
    if selection.selected.is_empty() && selection.unneeded.is_empty() {
        let what = format!("there is no archive of an artifact at {}", run.address);
        let problem = Problem::error(Code::NoArtifacts, what).help(
            "is the number of the run right? The address is that of the directory with base_lib_generic.tar.zst and the like",
        );
        return Err(Failure::Problems(problem.into()));
    }
    if let Some(warning) = selection.warning() {
        ui::show_problems(&warning.into());
    }
    Ok(selection)
}

/// The system that an address of the build's CI names.
fn system_of(run: &Run) -> Option<System> {
    let windows = run.address.trim_end_matches('/').ends_with(System::Windows.as_str());
    windows.then_some(System::Windows)
}

/// Checks what can be checked before anything is read.
///
/// # Errors
/// When something is missing, has no checksum where one is demanded, or is locked and gone.
pub fn check(selection: &Selection, demands: &Demands) -> Result<(), Failure> {
    let mut problems = selection.problems();
    problems.extend(demands.lost(&selection.keys()).map(Problems::from).unwrap_or_default());
    let bare = selection.without_checksum(demands);
    if demands.checksums && !bare.is_empty() {
        problems.push(unchecked(&bare, true));
    }
    if problems.has_errors() { Err(problems.into()) } else { Ok(()) }
}

/// The run that is asked for; `None` for a directory of this machine.
///
/// # Errors
/// When there is no such store, or it cannot be opened.
pub fn run(asked: Asked<'_>) -> Result<Option<Run>, Failure> {
    let address = match (asked.store, asked.place.and_then(Path::to_str)) {
        (Some(name), _) => of_store(asked, name)?,
        (None, Some(address)) if store::is_url(address) => address.to_owned(),
        (None, _) => return Ok(None),
    };
    let access = if asked.rule().is_some_and(|rule| rule.unsigned) {
        Access::Anonymous
    } else {
        Access::Any
    };
    let options = store::Options { access, ..store::Options::default() };
    let bucket = store::open(&address, &options).map_err(|error| failed(&error, &address))?;
    Ok(Some(Run { bucket: bucket.into(), address }))
}

/// Returns the address of a run in a store of the manifest.
fn of_store(asked: Asked<'_>, name: &str) -> Result<String, Failure> {
    let stores = asked.manifest.map(|manifest| &*manifest.stores).unwrap_or_default();
    let rule = asked.rule().ok_or_else(|| unknown(name, stores))?;
    let run = RunName {
        run: asked.args.run.as_deref().unwrap_or_default(),
        system: asked.system.unwrap_or(System::Linux),
        external: asked.args.external.as_deref(),
    };
    let address = rule.url.of_run(run).map_err(|e| {
        Problem::usage(Code::Environment, format!("--run, --external: {e}"))
            .label(&rule.url.place, "of this store")
    })?;
    Ok(address)
}

fn unknown(name: &str, stores: &[StoreRule]) -> Problem {
    let known: Vec<&str> = stores.iter().map(|rule| rule.name.as_str()).collect();
    let help = match (nearest(name, known.iter().copied()), known.is_empty()) {
        (_, true) => "packages.kdl declares stores: store \"NAME\" url=\"s3://…{run}…\"".to_owned(),
        (Some(near), _) => format!("did you mean `{near}`? stores are {}", known.join(", ")),
        (None, _) => format!("stores are {}", known.join(", ")),
    };
    Problem::usage(Code::Environment, format!("--store: packages.kdl declares no store `{name}`"))
        .help(help)
}

/// A store that cannot be asked: the command line or the environment is at fault.
fn failed(error: &StoreError, address: &str) -> Failure {
    let problem = Problem::error(Code::Environment, error.to_string());
    match error.kind {
        ErrorKind::Denied if store::is_web(address) => problem.help(
            "a web server has to let everybody read: credentials are for s3://, gs:// and az://",
        ),
        ErrorKind::Denied => problem.help(
            "credentials come from the environment, as AWS_ACCESS_KEY_ID does; a `store` line with unsigned=#true reads a public store without any",
        ),
        _ => problem,
    }
    .into()
}

/// Returns the demands of the store and of the command line on archives.
///
/// # Errors
/// When the lock file cannot be read, or `--locked` finds none.
pub fn demands(asked: Asked<'_>) -> Result<Demands, Failure> {
    let args = &asked.args.demands;
    let file = lock_file(args);
    let lock = match file.as_deref().map(Lock::load) {
        None => None,
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound && !args.locked => None,
        Some(Err(error)) => {
            let problem = Problem::error(Code::Environment, error.to_string());
            return Err(problem
                .help("`rockpack artifact fetch --lock FILE` writes a lock file")
                .into());
        }
        Some(Ok(lock)) => Some(lock),
    };
    let name = file.map(|file| file.display().to_string()).unwrap_or_default();
    let lock = lock.map(|lock| {
        let spare = spare(&lock, asked);
        Locked { file: name, lock, exact: args.locked, spare }
    });
    let checksums = asked.rule().is_some_and(|rule| rule.require_checksums);
    Ok(Demands { checksums, lock })
}

/// The locked archives that nothing which is asked for is made of.
fn spare(lock: &Lock, asked: Asked<'_>) -> BTreeSet<String> {
    let Some((manifest, request)) = asked.manifest.zip(asked.request) else {
        return BTreeSet::new();
    };
    let ids: Vec<_> = lock.keys().filter_map(archive_of).collect();
    let needed = resolve::needed(manifest, &ids, request);
    let is_spare = |key: &&str| archive_of(key).is_none_or(|id| !needed.taken.contains_key(&id));
    lock.keys().filter(is_spare).map(str::to_owned).collect()
}

fn lock_file(args: &DemandArgs) -> Option<PathBuf> {
    args.lock.clone().or_else(|| args.locked.then(|| LOCK.into()))
}

/// Refuses artifacts that no lock file can have, and writes the lock file.
fn conclude(args: &DemandArgs, demands: &Demands, directory: &Directory) -> Result<(), Failure> {
    let bare: Vec<String> = directory.directories().map(|id| format!("`{id}`")).collect();
    if let (Some(file), Some(first)) = (lock_file(args), bare.first()) {
        let what = format!("{first} is a directory, of which {} can say nothing", file.display());
        let help = "lock files are about archives: give those";
        if args.locked {
            let problem = Problem::error(Code::NotAsLocked, what).help(help);
            return Err(Failure::Problems(problem.into()));
        }
        ui::show_problems(&Problem::warning(Code::NotAsLocked, what).help(help).into());
    }
    write_lock(args, demands, directory.taken())
}

/// Adds archives to the lock file, if one is asked for.
///
/// # Errors
/// When it cannot be written.
pub fn write_lock<'a>(
    args: &DemandArgs,
    demands: &Demands,
    taken: impl IntoIterator<Item = &'a Taken>,
) -> Result<(), Failure> {
    let Some(file) = args.lock.as_ref().filter(|_| !args.locked) else { return Ok(()) };
    let old = demands.lock.as_ref().map(|locked| &locked.lock);
    let mut lock = old.cloned().unwrap_or_default();
    lock.extend(taken.into_iter().map(|taken| taken.archive.clone()));
    if old == Some(&lock) {
        return Ok(());
    }
    lock.save(file).map_err(|error| {
        let what = format!("cannot write {}: {error}", file.display());
        Problem::error(Code::Environment, what).into()
    })
}
