//! `rockpack plan`.

use base::source::{Code, Problem};
use build::execute::{self, Digests};
use catalog::Source;
use manifest::Manifest;
use plan::{Plan, Request};

use super::since::Set;
use super::{Failure, contract, environment, not_executed, print, print_exact};
use crate::cli::{PlanArgs, PlanFormat};
use crate::inputs::{
    self,
    artifacts::{self, ArtifactOptions},
};

pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let (format, max_jobs) =
        args.format().map_err(|text| Problem::usage(Code::Environment, text))?;
    let destination =
        args.contract.destination().map_err(|text| Problem::usage(Code::Environment, text))?;
    let plan = inputs::pool(args.set.threads.jobs)?.install(|| make_plan(args))?;
    if let Some(destination) = destination {
        let contracts = review::contract::contracts(&plan);
        return contract::write_or_check(&contracts, &destination, args.json, args.contract.check);
    }
    match format {
        PlanFormat::Text => print(&review::summary_text(&plan, args.set.verbose)),
        PlanFormat::Files => print(&review::files_text(&plan)),
        PlanFormat::Markdown => print(&review::markdown_text(&plan)),
        PlanFormat::Html => print_exact(&review::html_page(&plan)),
        PlanFormat::Json => {
            let json = serde_json::to_string_pretty(&plan)
                .map_err(|e| environment(format!("cannot write the plan as JSON: {e}")))?;
            print_exact(&(json + "\n"))
        }
        PlanFormat::Shards => {
            let json = serde_json::to_string(&review::shards(&plan, max_jobs.into()))
                .map_err(|e| environment(format!("cannot write the shards as JSON: {e}")))?;
            print_exact(&(json + "\n"))
        }
    }
}

fn make_plan(args: &PlanArgs) -> Result<Plan, Failure> {
    let manifest = inputs::manifest::read(args.set.manifest.as_deref())?;
    let request = inputs::request(&manifest, &args.set)?;
    let verbose = args.set.verbose;
    let options =
        ArtifactOptions::new(&args.catalog, &args.artifacts, &manifest, &request, verbose);
    if let Some(place) = &args.since.since {
        return plan_since(args, (&manifest, &request), options, place);
    }
    if !args.estimate {
        let catalog = inputs::catalog(args.catalog.catalog.as_deref(), options)?;
        return inputs::plan(&manifest, &catalog, &request, verbose);
    }
    let (catalog, source) = artifacts::scan(options)?;
    add_estimates(args, inputs::plan(&manifest, &catalog, &request, verbose)?, &*source)
}

fn add_estimates(args: &PlanArgs, mut plan: Plan, source: &dyn Source) -> Result<Plan, Failure> {
    if args.estimate {
        let sizes = execute::estimate(&plan, source).map_err(|e| not_executed(&e))?;
        if let Some(error) = execute::too_large(&plan, sizes.iter().copied().enumerate()) {
            return Err(not_executed(&error));
        }
        for (distribution, size) in plan.distributions.iter_mut().zip(sizes) {
            distribution.estimate = Some(size);
        }
    }
    Ok(plan)
}

fn plan_since(
    args: &PlanArgs,
    (manifest, request): (&Manifest, &Request),
    options: ArtifactOptions<'_>,
    place: &str,
) -> Result<Plan, Failure> {
    if args.catalog.catalog.is_some() {
        let message = "--since compares the bytes of files, which a saved catalog does not have";
        return Err(Problem::usage(Code::Environment, message)
            .help("give --artifact-dir or --store in place of --catalog")
            .into());
    }
    let (catalog, source) = artifacts::scan(options)?;
    let digests = Digests::new(inputs::cache::look());
    let set = Set { place, manifest, catalog: &catalog, request, digests: &digests };
    let decided = set.decide(&set.whole()?, &*source)?;
    let mut plan = inputs::plan(manifest, &catalog, &decided.request, options.verbose)?;
    decided.complete(&mut plan);
    add_estimates(args, plan, &*source)
}
