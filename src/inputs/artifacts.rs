use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::event::{Event, Reporter};
use base::names::System;
use base::source::{Code, Problem, Problems, nearest};
use catalog::{
    self, Catalog, Demands, Directory, Lock, Locked, Packed, ReadArchive, Source, SourcePath,
    Wanted, archive_of, unchecked,
};
use index::fetch::{RemoteArchive, Selection};
use index::store::{self, Access, Bucket, ErrorKind, StoreError};
use manifest::{DOWNLOADS, Manifest, RunName, StoreRule};
use plan::resolve::{self, Requested};
use plan::{Plan, Request};

use super::{near, pool};
use crate::cli::{ArtifactArgs, CatalogArgs, DemandArgs};
use crate::failure::Failure;
use crate::ui;

/// Lock file of `--locked` without `--lock`.
const LOCK: &str = "rockpack.lock";

/// Place of artifacts, and options and lines that select among them.
#[derive(Clone, Copy)]
pub struct ArtifactOptions<'a> {
    /// A directory, or the address of a run.
    pub place: Option<&'a Path>,
    pub store: Option<&'a str>,
    pub args: &'a ArtifactArgs,
    /// Declares stores, and the artifacts that packages need.
    pub manifest: Option<&'a Manifest>,
    /// Request for the packages. Without it, all archives of a run are taken.
    pub request: Option<&'a Request>,
    /// Value of `{system}` in an address.
    pub system: Option<System>,
    pub verbose: bool,
}

impl<'a> ArtifactOptions<'a> {
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

    fn rule(&self) -> Option<&'a StoreRule> {
        let name = self.store?;
        self.manifest?.stores.iter().find(|rule| *rule.name == name)
    }

    /// Returns the number of archives that are read at a time.
    pub fn downloads(&self) -> Option<u16> {
        u16::try_from(self.rule().map_or(DOWNLOADS, |rule| rule.downloads)).ok()
    }
}

pub struct Run {
    pub bucket: Arc<dyn Bucket>,
    pub address: String,
}

pub fn scan(options: ArtifactOptions<'_>) -> Result<(Catalog, Box<dyn Source>), Failure> {
    let demands = demands(options)?;
    let directory = match run(options)? {
        Some(run) => unpacked(&run, options, &demands, None)?,
        None => local(options.place, &demands, None)?,
    };
    let source = concluded(options, &demands, directory)?;
    let catalog = catalog::read(&*source)?;
    if options.verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok((catalog, source))
}

/// Opens artifacts, and reads only the files that a plan takes. Fails if a file contradicts the
/// catalog.
pub fn planned(
    options: ArtifactOptions<'_>,
    catalog: &Catalog,
    plan: &Plan,
) -> Result<Box<dyn Source>, Failure> {
    let demands = demands(options)?;
    let files: Vec<&SourcePath> = plan.sources().collect();
    let needed = Wanted::with_sizes(catalog, files.iter().copied());
    let directory = match run(options)? {
        Some(run) => unpacked(&run, options, &demands, Some(&needed))?,
        None => local(options.place, &demands, Some(&needed))?,
    };
    let source = concluded(options, &demands, directory)?;
    catalog::confirm(&*source, catalog, files)?;
    Ok(source)
}

fn concluded(
    options: ArtifactOptions<'_>,
    demands: &Demands,
    directory: Directory,
) -> Result<Box<dyn Source>, Failure> {
    ui::show_problems(&directory.warnings());
    conclude(&options.args.demands, demands, &directory)?;
    Ok(Box::new(directory))
}

fn local(
    dir: Option<&Path>,
    demands: &Demands,
    needed: Option<&Wanted>,
) -> Result<Directory, Failure> {
    Ok(Directory::open_some(directory(dir)?, demands, needed)?)
}

pub fn directory(dir: Option<&Path>) -> Result<&Path, Failure> {
    let dir = dir.ok_or_else(|| {
        Problem::usage(Code::Environment, "this command needs artifacts")
            .help("give --artifact-dir DIR, or --store NAME --run ID")
    })?;
    if !dir.is_dir() {
        let state = if dir.exists() { "is not a directory" } else { "does not exist" };
        return Err(Problem::error(
            Code::Environment,
            format!("artifact directory {} {state}", dir.display()),
        )
        .help(format!(
            "{}give --artifact-dir the directory with artifacts such as base_lib_generic",
            near(dir)
        ))
        .into());
    }
    Ok(dir)
}

fn unpacked(
    run: &Run,
    options: ArtifactOptions<'_>,
    demands: &Demands,
    needed: Option<&Wanted>,
) -> Result<Directory, Failure> {
    let selection = select(run, options, demands)?;
    check(&selection, demands)?;
    let is_wanted = |archive: &RemoteArchive| {
        let id = archive_of(archive.key());
        needed.is_none_or(|needed| id.is_none_or(|id| needed.takes(&id)))
    };
    let mut archives = selection.archives(&run.bucket);
    archives.retain(is_wanted);
    let directory = with_progress(&archives, options, |archives| {
        let packed = archives.into_iter().map(|archive| Box::new(archive) as Box<dyn Packed>);
        Directory::unpack(&packed.collect::<Vec<_>>(), demands, needed)
    })?;
    Ok(directory?)
}

pub fn with_progress<T: Send>(
    archives: &[RemoteArchive],
    options: ArtifactOptions<'_>,
    work: impl FnOnce(Vec<RemoteArchive>) -> T + Send,
) -> Result<T, Problem> {
    let pool = pool(options.downloads())?;
    let progress = Arc::new(ui::Progress::new(false));
    let bytes = archives.iter().map(RemoteArchive::size).sum();
    progress.report(Event::FetchStarted { archives: archives.len(), bytes });
    let reported =
        archives.iter().map(|archive| archive.clone().heard_by(progress.clone())).collect();
    let result = pool.install(|| work(reported));
    progress.clear();
    Ok(result)
}

/// Fails if the store has no archive.
pub fn select(
    run: &Run,
    options: ArtifactOptions<'_>,
    demands: &Demands,
) -> Result<Selection, Failure> {
    let bucket = &*run.bucket;
    let selection = match options.manifest.zip(options.request) {
        Some((manifest, request)) => {
            let request = Request { system: request.system.or(system_of(run)), ..request.clone() };
            let locked: Vec<&str> = demands.lock.iter().flat_map(Locked::needed).collect();
            // Without a list, each key is requested.
            let pool = pool(options.downloads())?;
            let requested = Requested { manifest, request: &request };
            pool.install(|| Selection::of_run(bucket, &requested, &locked))
        }
        None => Selection::all(bucket),
    };
    let selection = selection.map_err(|error| failed(&error, &run.address))?;
    if selection.selected.is_empty() && selection.unneeded.is_empty() {
        let message = format!("no archive of an artifact at {}", run.address);
        let problem = Problem::error(Code::NoArtifacts, message).help(
            "check the run, and whether the address is of the directory with archives such as \
             base_lib_generic.tar.zst",
        );
        return Err(Failure::Problems(problem.into()));
    }
    if let Some(warning) = selection.warning() {
        ui::show_problems(&warning.into());
    }
    Ok(selection)
}

/// Reads the system at the end of an address, as the build's CI writes it.
fn system_of(run: &Run) -> Option<System> {
    let windows = run.address.trim_end_matches('/').ends_with(System::Windows.as_str());
    windows.then_some(System::Windows)
}

/// Checks a selection before anything is downloaded.
/// Fails if an archive is missing, lacks a required checksum, is locked and gone, or is not locked.
pub fn check(selection: &Selection, demands: &Demands) -> Result<(), Failure> {
    let mut problems = selection.problems();
    let missing = demands.missing("the run", &selection.keys());
    problems.extend(missing.map(Problems::from).unwrap_or_default());
    let keys = selection.selected.iter().map(|selected| &selected.object.key);
    keys.filter_map(|key| demands.unlisted(key.as_str()))
        .for_each(|problem| problems.push(problem));
    let bare = selection.without_checksum(demands);
    if demands.checksums && !bare.is_empty() {
        problems.push(unchecked(&bare, true));
    }
    if problems.has_errors() { Err(problems.into()) } else { Ok(()) }
}

/// Opens the run; returns `None` for a directory of this machine.
pub fn run(options: ArtifactOptions<'_>) -> Result<Option<Run>, Failure> {
    let address = match (options.store, options.place.and_then(Path::to_str)) {
        (Some(name), _) => of_store(options, name)?,
        (None, Some(address)) if store::is_url(address) => address.to_owned(),
        (None, _) => return Ok(None),
    };
    let access = if options.rule().is_some_and(|rule| rule.unsigned) {
        Access::Anonymous
    } else {
        Access::Any
    };
    let listener = ui::events::listener();
    let store_options = store::Options { listener, access, ..store::Options::default() };
    let bucket = store::open(&address, &store_options).map_err(|error| failed(&error, &address))?;
    Ok(Some(Run { bucket: bucket.into(), address }))
}

fn of_store(options: ArtifactOptions<'_>, name: &str) -> Result<String, Failure> {
    let stores = options.manifest.map(|manifest| &*manifest.stores).unwrap_or_default();
    let rule = options.rule().ok_or_else(|| unknown(name, stores))?;
    let run = RunName {
        run: options.args.run.as_deref().unwrap_or_default(),
        system: options.system.unwrap_or(System::Linux),
        external: options.args.external.as_deref(),
    };
    let address = rule.url.of_run(run).map_err(|e| {
        Problem::usage(Code::Environment, format!("--run, --external: {e}"))
            .label(&rule.url.place, "of this store")
    })?;
    Ok(address)
}

fn unknown(name: &str, stores: &[StoreRule]) -> Problem {
    let names: Vec<&str> = stores.iter().map(|rule| rule.name.as_str()).collect();
    let help = match (nearest(name, names.iter().copied()), names.is_empty()) {
        (_, true) => "declare it in packages.kdl: store \"NAME\" url=\"s3://…{run}…\"".to_owned(),
        (Some(near), _) => format!("did you mean `{near}`? the stores are {}", names.join(", ")),
        (None, _) => format!("the stores are {}", names.join(", ")),
    };
    Problem::usage(Code::Environment, format!("--store: packages.kdl declares no store `{name}`"))
        .help(help)
}

fn failed(error: &StoreError, address: &str) -> Failure {
    let problem = Problem::error(Code::Environment, error.to_string());
    match error.kind {
        ErrorKind::Denied if store::is_web(address) => {
            problem.help("use a public web server, or s3://, gs:// or az:// with credentials")
        }
        ErrorKind::Denied => problem.help(
            "credentials come from the environment, as AWS_ACCESS_KEY_ID does; a `store` line with unsigned=#true reads a public store without any",
        ),
        _ => problem,
    }
    .into()
}

/// Fails if the lock file does not exist with `--locked`.
pub fn demands(options: ArtifactOptions<'_>) -> Result<Demands, Failure> {
    let args = &options.args.demands;
    let file = lock_file(args);
    let lock = match file.as_deref().map(Lock::load) {
        None => None,
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound && !args.locked => None,
        Some(Err(error)) => {
            let is_content = error.kind() == std::io::ErrorKind::InvalidData;
            let code = if is_content { Code::BrokenRecord } else { Code::Environment };
            let help = "write a lock file with `rockpack artifact fetch --lock FILE`";
            let problem = Problem::error(code, error.to_string()).help(help);
            return Err(if is_content {
                Failure::Problems(problem.into())
            } else {
                problem.into()
            });
        }
        Some(Ok(lock)) => Some(lock),
    };
    let name = file.map(|file| file.display().to_string()).unwrap_or_default();
    let lock = lock.map(|lock| {
        let spare = spare(&lock, options);
        Locked { file: name, lock, exact: args.locked, spare }
    });
    let checksums = options.rule().is_some_and(|rule| rule.require_checksums);
    Ok(Demands { checksums, lock })
}

fn spare(lock: &Lock, options: ArtifactOptions<'_>) -> BTreeSet<String> {
    let Some((manifest, request)) = options.manifest.zip(options.request) else {
        return BTreeSet::new();
    };
    let ids: Vec<_> = lock.keys().filter_map(archive_of).collect();
    let needed = resolve::needed(manifest, &ids, request);
    let is_spare =
        |key: &&str| archive_of(key).is_none_or(|id| !needed.artifacts.contains_key(&id));
    lock.keys().filter(is_spare).map(str::to_owned).collect()
}

fn lock_file(args: &DemandArgs) -> Option<PathBuf> {
    args.lock.clone().or_else(|| args.locked.then(|| LOCK.into()))
}

/// Writes the lock file, which cannot have directories: they are refused with `--locked`, otherwise
/// a warning.
fn conclude(args: &DemandArgs, demands: &Demands, directory: &Directory) -> Result<(), Failure> {
    let bare: Vec<String> = directory.directories().map(|id| format!("`{id}`")).collect();
    if let (Some(file), Some(first)) = (lock_file(args), bare.first()) {
        let message = format!("{first} is a directory, which {} does not cover", file.display());
        let help = "give archives: a lock file covers only archives";
        if args.locked {
            let problem = Problem::error(Code::NotAsLocked, message).help(help);
            return Err(Failure::Problems(problem.into()));
        }
        ui::show_problems(&Problem::warning(Code::NotAsLocked, message).help(help).into());
    }
    write_lock(args, demands, directory.archives())
}

/// Adds archives to the file of `--lock`, unless `--locked` is given.
pub fn write_lock<'a>(
    args: &DemandArgs,
    demands: &Demands,
    archives: impl IntoIterator<Item = &'a ReadArchive>,
) -> Result<(), Failure> {
    let Some(file) = args.lock.as_ref().filter(|_| !args.locked) else { return Ok(()) };
    let old = demands.lock.as_ref().map(|locked| &locked.lock);
    let mut lock = old.cloned().unwrap_or_default();
    lock.extend(archives.into_iter().map(|archive| archive.locked.clone()));
    if old == Some(&lock) {
        return Ok(());
    }
    lock.save(file).map_err(|error| {
        let message = format!("cannot write {}: {error}", file.display());
        Problem::error(Code::Environment, message).into()
    })
}
