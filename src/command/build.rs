//! `rockpack build`.

use std::collections::BTreeMap;

use base::event::{Event, Phase};
use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::with_causes;
use base::text::{bytes, human_size};
use build::execute::{self, Attestations, Built, Digests, ExecuteError, Outcome, Settings};
use catalog::{ArtifactId, Catalog, Demands, Directory, Source};
use manifest::Manifest;
use plan::{Distribution, Plan, Request};
use record::provenance::{Contents, Inputs, Run};

use super::since::{Decided, Set};
use super::{Failure, environment, not_executed, print};
use crate::cli::BuildArgs;
use crate::inputs::{self, Remote, artifacts, artifacts::ArtifactOptions, variable::MEMORY};
use crate::ui;

pub(super) mod destination;
mod earlier;
mod farm;
#[cfg(feature = "remote")]
mod farmed;
mod installed;
mod projects;
mod reviewed;

use farm::{Farm, FarmInput, Farmed};
#[cfg(feature = "remote")]
use farmed::farm;
use reviewed::Reviewed;

pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    open_events(args)?;
    if installed::is_asked(args) {
        return installed::run(args);
    }
    check_artifacts(args)?;
    let pool = begin(args)?;
    let sources = inputs::manifest::sources(args.set.manifest.as_deref())?;
    ui::show_manifest_name(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    let remote = Remote::new(&args.remote, &manifest)?;
    inputs::cache::check(&args.cache, &remote, args.remote.artifacts_digest.is_some())?;
    let farm = farm(args, &remote, pool.current_num_threads())?;
    let mut request = inputs::request(&manifest, &args.set)?;
    let reviewed = Reviewed::read(args)?;
    if let Some(reviewed) = &reviewed {
        reviewed.complete(&mut request);
    }
    let steps = Steps {
        args,
        pool: &pool,
        sources: &sources,
        manifest: &manifest,
        remote: &remote,
        artifact_options: artifact_options(args, &manifest, &request),
    };
    let (catalog, scanned) = steps.catalog()?;
    let planned = steps.plan(&catalog, &request, scanned)?;
    if let Some(reviewed) = &reviewed {
        reviewed.check(&planned.plan)?;
    }
    print_left_out(args, &planned.plan);
    let memory = memory(&planned.plan)?;
    let projects = steps.projects(&planned.plan)?;
    if args.dry_run {
        return steps.dry_run(&catalog, planned);
    }
    let packed = steps.pack(farm, &catalog, planned, memory)?;
    if let Some(projects) = &projects {
        ui::events::phase(Phase::Projects);
        let packages = execute::packages(&packed.built);
        let from_artifacts = (&packed.inputs, &*packages);
        projects::build(args, &manifest, &packed.plan, projects, from_artifacts)?;
    }
    packed.missed.map_or(Ok(()), |missed| Err(missed.into()))
}

/// Steps of a build, with the inputs of all of them.
#[derive(Clone, Copy)]
struct Steps<'a> {
    args: &'a BuildArgs,
    pool: &'a rayon::ThreadPool,
    sources: &'a (base::source::Source, base::source::Source),
    manifest: &'a Manifest,
    remote: &'a Remote<'a>,
    artifact_options: ArtifactOptions<'a>,
}

struct Planned {
    plan: Plan,
    request: Request,
    /// Artifacts that were opened for the plan.
    source: MaybeSource,
    /// Digests that decided which packages are new, with `--since`.
    digests: Option<Digests>,
}

struct Packed {
    plan: Plan,
    inputs: Inputs,
    built: Vec<Built>,
    /// Problem that is an error after the build.
    missed: Option<Problem>,
    /// Unpacked archives: unnamed files, which end with the process.
    _source: Box<dyn Source>,
}

impl Steps<'_> {
    fn catalog(self) -> Result<(Catalog, MaybeSource), Failure> {
        ui::events::phase(Phase::Artifacts);
        let (catalog, scanned) = self.pool.install(|| catalog(self.args, self.artifact_options))?;
        check_destination(self.args, &catalog)?;
        Ok((catalog, scanned))
    }

    /// Plans the packages; with `--since`, of a set.
    fn plan(
        self,
        catalog: &Catalog,
        request: &Request,
        scanned: MaybeSource,
    ) -> Result<Planned, Failure> {
        ui::events::phase(Phase::Plan);
        let Self { args, pool, manifest, .. } = self;
        let plan =
            |request| pool.install(|| inputs::plan(manifest, catalog, request, args.set.verbose));
        let Some(place) = &args.since.since else {
            let (plan, request) = (plan(request)?, request.clone());
            return Ok(Planned { plan, request, source: scanned, digests: None });
        };
        let digests = self.digests()?;
        let set = Set { place, manifest, catalog, request, digests: &digests };
        let (source, decided) = pool.install(|| since(set, self.artifact_options, scanned))?;
        let (mut plan, request) = (plan(&decided.request)?, decided.request.clone());
        decided.complete(&mut plan);
        Ok(Planned { plan, request, source: Some(source), digests: Some(digests) })
    }

    /// Faults of projects are reported before artifacts are packed.
    fn projects(self, plan: &Plan) -> Result<Option<::projects::Settings>, Failure> {
        let settings =
            projects::settings(self.args, self.manifest, plan, self.pool.current_num_threads())?;
        if let Some(settings) = &settings {
            projects::check(self.args, plan, settings)?;
            if !self.args.dry_run {
                projects::prefetch(self.args, self.manifest, plan, settings)?;
            }
        }
        Ok(settings)
    }

    fn dry_run(self, catalog: &Catalog, planned: Planned) -> Result<(), Failure> {
        let Planned { plan, source, .. } = planned;
        let source = self.source(catalog, &plan, source)?;
        self.pool.install(|| execute::check(&plan, &*source)).map_err(|e| not_executed(&e))?;
        let text = review::summary_text(&plan, self.args.set.verbose);
        print(&format!("{text}\nnothing written (--dry-run)\n"))
    }

    fn pack(
        self,
        farm: Option<Box<dyn Farm>>,
        catalog: &Catalog,
        planned: Planned,
        memory: u64,
    ) -> Result<Packed, Failure> {
        let Planned { plan, request, source, digests } = planned;
        let (farmed, source) = match farm {
            Some(farm) => {
                let input = self.farm_input(&request, &plan);
                self.pool.install(|| with_farm(farm, input, catalog))?
            }
            None => (Farmed::default(), self.source(catalog, &plan, source)?),
        };
        let run = inputs::run()?;
        let of_build = || attestations(run, &request, self.manifest, catalog, &plan);
        let mut attestations = self.pool.install(of_build);
        let has_others = !plan.projects.is_empty() || !plan.wheels.is_empty();
        if plan.distributions.is_empty() && has_others {
            let (inputs, missed) = (attestations.inputs, farmed.missed);
            return Ok(Packed { plan, inputs, built: Vec::new(), missed, _source: source });
        }
        ui::events::phase(Phase::Packages);
        let digests = digests.map_or_else(|| self.digests(), Ok)?;
        let made_of = (catalog, &plan);
        let contents = || contents(&request, made_of, &*source, &digests, farmed.contents);
        let contents = self.pool.install(contents)?;
        attestations.inputs.add_contents(&contents);
        let (has_cache, spans) = (digests.has_cache(), ui::events::is_open());
        let settings = Settings { memory, spans, digests, elsewhere: farmed.elsewhere };
        let reporter = ui::Progress::new(has_cache);
        let is_replaced =
            |path: &RelPath| earlier::is_replaced(self.args, self.manifest, &plan, path);
        let output = &self.args.output;
        let execute = || {
            execute::execute(
                &plan,
                &attestations,
                &*source,
                output,
                is_replaced,
                settings,
                &reporter,
            )
        };
        let result = self.pool.install(execute);
        reporter.clear();
        let outcome = result.map_err(|e| unfinished(&plan, has_cache, &e))?;
        let missed = print_outcome(self.remote.is_required(), &plan, &outcome)?.or(farmed.missed);
        farmed.line.map_or(Ok(()), |line| print(&line))?;
        let (inputs, built) = (attestations.inputs, outcome.built);
        Ok(Packed { plan, inputs, built, missed, _source: source })
    }

    fn digests(self) -> Result<Digests, Problem> {
        let jobs = self.pool.current_num_threads();
        inputs::cache::store(&self.args.cache, self.remote, jobs).map(Digests::new)
    }

    /// Opens the artifacts of a plan, unless they are open.
    fn source(
        self,
        catalog: &Catalog,
        plan: &Plan,
        opened: MaybeSource,
    ) -> Result<Box<dyn Source>, Failure> {
        let open =
            || self.pool.install(|| artifacts::planned(self.artifact_options, catalog, plan));
        opened.map_or_else(open, Ok)
    }

    fn farm_input<'g>(self, request: &'g Request, plan: &'g Plan) -> FarmInput<'g>
    where
        Self: 'g,
    {
        let Self { args, sources, manifest, remote, artifact_options, .. } = self;
        FarmInput { args, sources, manifest, request, artifact_options, plan, remote }
    }
}

fn open_events(args: &BuildArgs) -> Result<(), Failure> {
    let opened = args.events.as_deref().map_or(Ok(()), ui::events::open);
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
    let paths =
        plan.distributions.iter().map(|distribution| execute::output_path(plan, distribution));
    ui::print_unfinished(&paths.collect::<Vec<_>>(), has_cache);
    not_executed(error)
}

type MaybeSource = Option<Box<dyn Source>>;

fn since(
    set: Set<'_>,
    options: ArtifactOptions<'_>,
    scanned: MaybeSource,
) -> Result<(Box<dyn Source>, Decided), Failure> {
    let whole = set.whole()?;
    let source = match scanned {
        Some(source) => source,
        None => artifacts::planned(options, set.catalog, &whole)?,
    };
    let decided = set.decide(&whole, &*source)?;
    Ok((source, decided))
}

fn print_left_out(args: &BuildArgs, plan: &Plan) {
    let left_out = |text: &str| args.set.sources.is_some() && text.starts_with("left out");
    for note in plan.notes.iter().filter(|note| left_out(&note.text)) {
        ui::print_message(&format!("note: {}", note.text));
    }
}

/// Returns the bytes in memory at a time. Less than one block is an error.
fn memory(plan: &Plan) -> Result<u64, Problem> {
    let least = execute::least_memory(plan);
    match inputs::variable(MEMORY, bytes)? {
        None => Ok(inputs::memory_share().max(least)),
        Some(memory) if memory >= least => Ok(memory),
        Some(memory) => {
            let (memory, least) = (human_size(memory), least.div_ceil(1_000_000));
            let text = format!("{MEMORY}: {memory} is less than one block of these packages takes");
            Err(Problem::usage(Code::Environment, text).help(format!("give at least {least}MB")))
        }
    }
}

#[cfg(not(feature = "remote"))]
fn farm(args: &BuildArgs, remote: &Remote<'_>, _: usize) -> Result<Option<Box<dyn Farm>>, Problem> {
    let is_requested = args.remote.artifacts_digest.is_some() || remote.address().is_some();
    if is_requested { Err(inputs::remote::absent()) } else { Ok(None) }
}

fn with_farm(
    farm: Box<dyn Farm>,
    input: FarmInput<'_>,
    catalog: &Catalog,
) -> Result<(Farmed, Box<dyn Source>), Failure> {
    let farmed = farm.build(input)?;
    let is_made =
        |index| farmed.elsewhere.as_ref().is_some_and(|made| made.built.contains_key(&index));
    let mut rest = input.plan.clone();
    let distributions = std::mem::take(&mut rest.distributions).into_iter().enumerate();
    rest.distributions = distributions
        .filter(|(index, _)| !is_made(*index))
        .map(|(_, distribution)| distribution)
        .collect();
    if rest.sources().next().is_some() {
        let source = artifacts::planned(input.artifact_options, catalog, &rest)?;
        return Ok((farmed, source));
    }
    let nothing = Directory::unpack(&[], &Demands::default(), None)?;
    Ok((farmed, Box::new(nothing)))
}

/// Prints packages and timings. Returns a problem with a required shared cache: an error, although the
/// packages are complete.
fn print_outcome(
    required: bool,
    plan: &Plan,
    outcome: &Outcome,
) -> Result<Option<Problem>, Failure> {
    outcome
        .cache
        .iter()
        .flat_map(|summary| &summary.warnings)
        .for_each(|e| inputs::cache::warn(&with_causes(e)));
    let shared = outcome.cache.as_ref().and_then(|summary| summary.shared.as_ref());
    let missed = shared.and_then(|shared| inputs::cache::report_shared(shared, required));
    if let Some(summary) = &outcome.cache {
        ui::events::record(&Event::CacheUsed {
            hits: summary.hits,
            hit_bytes: summary.hit_bytes,
            misses: summary.misses,
            added: summary.added,
            added_bytes: summary.added_bytes,
        });
    }
    print(&ui::closing_table(plan, outcome, ui::width()))?;
    earlier::warn_of_changes(&outcome.earlier);
    Ok(missed)
}

/// Hashes files too with --only, for comparison with other builds.
fn contents(
    request: &Request,
    made_of: (&Catalog, &Plan),
    source: &dyn Source,
    digests: &Digests,
    mut contents: BTreeMap<ArtifactId, Contents>,
) -> Result<BTreeMap<ArtifactId, Contents>, Failure> {
    let is_part = !request.only.is_empty();
    let hashed = execute::contents(made_of, source, digests, &contents, is_part);
    let hashed = hashed.map_err(|e| environment(format!("cannot read the artifacts: {e}")))?;
    contents.extend(hashed);
    Ok(contents)
}

fn attestations(
    run: Run,
    request: &Request,
    manifest: &Manifest,
    catalog: &Catalog,
    plan: &Plan,
) -> Attestations {
    let files: Vec<_> =
        manifest.sources.iter().map(|source| (source.name(), source.text())).collect();
    let mut of_build = build::provenance::inputs(request, &files, catalog);
    of_build.run = run;
    let content = |distribution: &Distribution| {
        Some((execute::output_path(plan, distribution), distribution.content.clone()?))
    };
    of_build.contents = plan.distributions.iter().filter_map(content).collect();
    Attestations { sboms: build::sbom::sboms(manifest, catalog, plan), inputs: of_build }
}

fn catalog(
    args: &BuildArgs,
    options: ArtifactOptions<'_>,
) -> Result<(Catalog, MaybeSource), Failure> {
    match &args.catalog {
        Some(file) => inputs::catalog(Some(file), options).map(|catalog| (catalog, None)),
        None => artifacts::scan(options).map(|(catalog, source)| (catalog, Some(source))),
    }
}

fn artifact_options<'a>(
    args: &'a BuildArgs,
    manifest: &'a Manifest,
    request: &'a Request,
) -> ArtifactOptions<'a> {
    ArtifactOptions {
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
        let message = "--since reads all artifacts here, and --artifacts-digest reads none";
        return Err(Problem::usage(Code::Environment, message).help("remove one of the options"));
    }
    if elsewhere || args.catalog.is_none() || args.artifact_dir.is_some() || args.store.is_some() {
        return Ok(());
    }
    Err(Problem::usage(Code::Environment, "a saved catalog has no file contents for a build").help(
        "add --artifact-dir DIR for a build, or see the plan with `rockpack plan --catalog \
            FILE`",
    ))
}
