//! `rockpack build`.

use std::collections::BTreeMap;

use build::provenance;
use plan::review;

use base::event::{Event, Phase};
use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::human_size;
use base::text::with_causes;
use build::execute::{self, Attestations, Digests, ExecuteError, Outcome, Settings};
use build::provenance::{Contents, Inputs, Run};
use manifest::Manifest;
use plan::catalog::{ArtifactId, Catalog, Demands, Directory, Source};
use plan::{Distribution, Plan, Request};

use super::since::{Decided, Set};
use super::{Failure, environment, not_executed, print};
use crate::cli::{BuildArgs, size};
use crate::inputs::{self, Shared, artifacts, artifacts::Asked, variable::MEMORY};
use crate::ui;

mod destination;
mod earlier;
#[cfg(feature = "remote")]
mod farmed;
#[cfg(not(feature = "remote"))]
#[path = "build/farmless.rs"]
mod farmed;
mod given;
mod installed;
#[cfg(feature = "projects")]
mod projects;
#[cfg(not(feature = "projects"))]
#[path = "build/projectless.rs"]
mod projects;
mod reviewed;

use farmed::Farm;
use given::{Farmed, Given};
use reviewed::Reviewed;

pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    open_events(args)?;
    if let Some(tree) = &args.installed {
        return installed::run(args, tree);
    }
    check_artifacts(args)?;
    let pool = begin(args)?;
    let sources = inputs::manifest::sources(args.set.manifest.as_deref())?;
    ui::tell_manifest(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    let shared = Shared::new(&args.remote, &manifest)?;
    inputs::cache::check(&args.cache, &shared, args.remote.artifacts_digest.is_some())?;
    let farm = farmed::asked(args, &shared, pool.current_num_threads())?;
    let mut request = inputs::request(&manifest, &args.set)?;
    let reviewed = Reviewed::read(args)?;
    if let Some(reviewed) = &reviewed {
        reviewed.complete(&mut request);
    }
    let asked = asked(args, &manifest, &request);
    ui::events::phase(Phase::Artifacts);
    let (catalog, scanned) = pool.install(|| catalog(args, asked))?;
    check_destination(args, &catalog)?;
    ui::events::phase(Phase::Plan);
    let given = (&manifest, &catalog, &request);
    let digests = || digests(args, &shared, pool.current_num_threads());
    let known = args.since.since.is_some().then(digests).transpose()?;
    let (plan, request, scanned) = planned(args, &pool, known.as_ref(), given, (asked, scanned))?;
    if let Some(reviewed) = &reviewed {
        reviewed.check(&plan)?;
    }
    tell_left_out(args, &plan);
    let projects = projects::settings(args, &manifest, &plan, pool.current_num_threads())?;
    let memory = memory(&plan)?;
    // Faults of projects are reported before artifacts are packed.
    if let Some(projects) = &projects {
        projects::check(args, &plan, projects)?;
    }
    let farm = farm.filter(|_| !args.dry_run);
    if let Some(projects) = projects.as_ref().filter(|_| !args.dry_run) {
        projects::prefetch(args, &manifest, &plan, projects)?;
    }
    let given = Given {
        args,
        sources: &sources,
        manifest: &manifest,
        request: &request,
        asked,
        plan: &plan,
        shared: &shared,
    };
    let (farmed, source) = match (farm, scanned) {
        (Some(farm), _) => pool.install(|| with_farm(farm, given, &catalog))?,
        (None, Some(source)) => (Farmed::default(), source),
        (None, None) => {
            let source = pool.install(|| artifacts::planned(asked, &catalog, &plan))?;
            (Farmed::default(), source)
        }
    };
    if args.dry_run {
        pool.install(|| execute::check(&plan, &*source)).map_err(|e| not_executed(&e))?;
        let text = review::summary_text(&plan, args.set.verbose);
        return print(&format!("{text}\nnothing written (--dry-run)\n"));
    }
    // With --only there can be projects alone.
    let run = inputs::run()?;
    let mut attestations =
        pool.install(|| attestations(run, request.clone(), &manifest, &catalog, &plan));
    let (mut built, mut missed) = (Vec::new(), farmed.missed);
    if !plan.distributions.is_empty() || plan.projects.is_empty() && plan.wheels.is_empty() {
        ui::events::phase(Phase::Packages);
        let digests = known.map_or_else(digests, Ok)?;
        let made_of = (&catalog, &plan);
        let contents =
            pool.install(|| contents(&request, made_of, &*source, &digests, farmed.contents))?;
        attestations.inputs.add_contents(&contents);
        let (has_cache, spans) = (digests.has_cache(), ui::events::is_open());
        let settings = Settings { memory, spans, digests, elsewhere: farmed.elsewhere };
        let reporter = ui::Progress::new(has_cache);
        let goes = |path: &RelPath| earlier::is_replaced(args, &manifest, &plan, path);
        let done = pool.install(|| {
            execute::execute(
                &plan,
                &attestations,
                &*source,
                &args.output,
                goes,
                settings,
                &reporter,
            )
        });
        reporter.clear();
        let outcome = done.map_err(|e| unfinished(&plan, has_cache, &e))?;
        missed = tell(shared.is_required(), &plan, &outcome)?.or(missed);
        farmed.line.map_or(Ok(()), |line| print(&line))?;
        built = outcome.built;
    }
    let known = execute::packages(&built);
    if let Some(projects) = &projects {
        ui::events::phase(Phase::Projects);
        projects::build(args, &manifest, &plan, projects, (&attestations.inputs, &known))?;
    }
    missed.map_or(Ok(()), |missed| Err(missed.into()))
}

fn open_events(args: &BuildArgs) -> Result<(), Failure> {
    let opened = ui::open_events(args.events.as_deref());
    opened.map_err(|e| environment(format!("cannot write the events: {e}")))
}

fn check_destination(args: &BuildArgs, catalog: &Catalog) -> Result<(), Failure> {
    let Some(dir) = &args.artifact_dir else { return Ok(()) };
    destination::check(dir, catalog, &args.output)
}

fn begin(args: &BuildArgs) -> Result<rayon::ThreadPool, Failure> {
    if args.set.sources.is_none() {
        crate::allocator::save_memory();
    }
    Ok(inputs::pool(inputs::threads(args.set.threads.jobs)?)?)
}

fn unfinished(plan: &Plan, has_cache: bool, error: &ExecuteError) -> Failure {
    let all = plan.distributions.iter().map(|it| execute::output_path(plan, it));
    ui::tell_unfinished(&all.collect::<Vec<_>>(), has_cache);
    not_executed(error)
}

type MaybeSource = Option<Box<dyn Source>>;

/// Plans the packages; with `--since`, of a set.
fn planned(
    args: &BuildArgs,
    pool: &rayon::ThreadPool,
    digests: Option<&Digests>,
    (manifest, catalog, request): (&Manifest, &Catalog, &Request),
    (asked, scanned): (Asked<'_>, MaybeSource),
) -> Result<(Plan, Request, MaybeSource), Failure> {
    let plan =
        |request| pool.install(|| inputs::plan(manifest, catalog, request, args.set.verbose));
    let (Some(place), Some(digests)) = (&args.since.since, digests) else {
        return Ok((plan(request)?, request.clone(), scanned));
    };
    let set = Set { place, manifest, catalog, request, digests };
    let (source, decided) = pool.install(|| since(set, asked, scanned))?;
    let (mut plan, request) = (plan(&decided.request)?, decided.request.clone());
    decided.complete(&mut plan);
    Ok((plan, request, Some(source)))
}

fn since(
    set: Set<'_>,
    asked: Asked<'_>,
    scanned: MaybeSource,
) -> Result<(Box<dyn Source>, Decided), Failure> {
    let whole = set.whole()?;
    let source = match scanned {
        Some(source) => source,
        None => artifacts::planned(asked, set.catalog, &whole)?,
    };
    let decided = set.decide(&whole, &*source)?;
    Ok((source, decided))
}

fn tell_left_out(args: &BuildArgs, plan: &Plan) {
    let left_out = |text: &str| args.set.sources.is_some() && text.starts_with("left out");
    for note in plan.notes.iter().filter(|note| left_out(&note.text)) {
        ui::tell(&format!("note: {}", note.text));
    }
}

/// Returns the bytes in memory at a time. Less than one block is an error.
fn memory(plan: &Plan) -> Result<u64, Problem> {
    let least = execute::least_memory(plan);
    match inputs::variable(MEMORY, size)? {
        None => Ok(inputs::memory_share().max(least)),
        Some(asked) if asked >= least => Ok(asked),
        Some(asked) => {
            let (asked, least) = (human_size(asked), least.div_ceil(1_000_000));
            let text = format!("{MEMORY}: {asked} is less than one block of these packages takes");
            Err(Problem::usage(Code::Environment, text).help(format!("give at least {least}MB")))
        }
    }
}

fn digests(args: &BuildArgs, shared: &Shared<'_>, jobs: usize) -> Result<Digests, Problem> {
    inputs::cache::store(&args.cache, shared, jobs).map(Digests::new)
}

fn with_farm(
    farm: Farm,
    given: Given<'_>,
    catalog: &Catalog,
) -> Result<(Farmed, Box<dyn Source>), Failure> {
    let farmed = farm.build(given)?;
    let is_made =
        |index| farmed.elsewhere.as_ref().is_some_and(|made| made.built.contains_key(&index));
    let mut left = given.plan.clone();
    let all = std::mem::take(&mut left.distributions).into_iter().enumerate();
    left.distributions = all.filter(|(index, _)| !is_made(*index)).map(|(_, it)| it).collect();
    if left.sources().next().is_some() {
        let source = artifacts::planned(given.asked, catalog, &left)?;
        return Ok((farmed, source));
    }
    let nothing = Directory::unpack(&[], &Demands::default(), None)?;
    Ok((farmed, Box::new(nothing)))
}

/// Prints packages and timings; returns an error that the packages outlive.
fn tell(required: bool, plan: &Plan, outcome: &Outcome) -> Result<Option<Problem>, Failure> {
    outcome
        .cache
        .iter()
        .flat_map(|summary| &summary.warnings)
        .for_each(|e| inputs::cache::warn(&with_causes(e)));
    let shared = outcome.cache.as_ref().and_then(|summary| summary.shared.as_ref());
    let missed = shared.and_then(|shared| inputs::cache::tell_shared(shared, required));
    if let Some(it) = &outcome.cache {
        ui::events::record(&Event::CacheUsed {
            hits: it.hits,
            hit_bytes: it.hit_bytes,
            misses: it.misses,
            added: it.added,
            added_bytes: it.added_bytes,
        });
    }
    print(&ui::closing_table(plan, outcome, ui::width()))?;
    earlier::tell(&outcome.earlier);
    Ok(missed)
}

/// Hashes files too with --only, for comparison with other builds.
fn contents(
    request: &Request,
    made_of: (&Catalog, &Plan),
    source: &dyn Source,
    digests: &Digests,
    mut known: BTreeMap<ArtifactId, Contents>,
) -> Result<BTreeMap<ArtifactId, Contents>, Failure> {
    let is_part = !request.only.is_empty();
    let found = execute::contents(made_of, source, digests, &known, is_part);
    let found = found.map_err(|e| environment(format!("cannot read the artifacts: {e}")))?;
    known.extend(found);
    Ok(known)
}

fn attestations(
    run: Run,
    request: Request,
    manifest: &Manifest,
    catalog: &Catalog,
    plan: &Plan,
) -> Attestations {
    let files: Vec<_> =
        manifest.sources.iter().map(|source| (source.name(), source.text())).collect();
    let mut of_build = Inputs::new(request, &files, catalog);
    of_build.run = run;
    let content = |it: &Distribution| Some((execute::output_path(plan, it), it.content.clone()?));
    of_build.contents = plan.distributions.iter().filter_map(content).collect();
    Attestations { sboms: provenance::sboms(manifest, catalog, plan), inputs: of_build }
}

fn catalog(args: &BuildArgs, asked: Asked<'_>) -> Result<(Catalog, MaybeSource), Failure> {
    match &args.catalog {
        Some(file) => inputs::catalog(Some(file), asked).map(|catalog| (catalog, None)),
        None => artifacts::scan(asked).map(|(catalog, source)| (catalog, Some(source))),
    }
}

fn asked<'a>(args: &'a BuildArgs, manifest: &'a Manifest, request: &'a Request) -> Asked<'a> {
    Asked {
        place: args.artifact_dir.as_deref(),
        store: args.store.as_deref(),
        args: &args.artifacts,
        manifest: Some(manifest),
        request: Some(request),
        system: request.system,
        verbose: args.set.verbose,
    }
}

/// Refuses a catalog without artifacts, which has no contents, and a farm with `--since`.
fn check_artifacts(args: &BuildArgs) -> Result<(), Problem> {
    let elsewhere = args.remote.artifacts_digest.is_some();
    if elsewhere && args.since.since.is_some() {
        let what = "--since reads all artifacts here, and --artifacts-digest reads none";
        return Err(Problem::usage(Code::Environment, what).help("remove one of the options"));
    }
    if elsewhere || args.catalog.is_none() || args.artifact_dir.is_some() || args.store.is_some() {
        return Ok(());
    }
    Err(Problem::usage(Code::Environment, "a saved catalog has no file contents for a build").help(
        "add --artifact-dir DIR for a build, or see the plan with `rockpack plan --catalog \
            FILE`",
    ))
}
