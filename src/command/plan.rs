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
    artifacts::{self, Asked},
};

pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let (format, most) = args.format().map_err(|text| Problem::usage(Code::Environment, text))?;
    let destination =
        args.contract.destination().map_err(|text| Problem::usage(Code::Environment, text))?;
    let plan = inputs::pool(args.set.threads.jobs)?.install(|| made(args))?;
    if let Some(destination) = destination {
        let contracts = review::contract::contracts(&plan);
        return contract::tell(&contracts, &destination, args.json, args.contract.check);
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
            let json = serde_json::to_string(&review::shares(&plan, most.into()))
                .map_err(|e| environment(format!("cannot write the shares as JSON: {e}")))?;
            print_exact(&(json + "\n"))
        }
    }
}

fn made(args: &PlanArgs) -> Result<Plan, Failure> {
    let manifest = inputs::manifest::read(args.set.manifest.as_deref())?;
    let request = inputs::request(&manifest, &args.set)?;
    let verbose = args.set.verbose;
    let asked = Asked::new(&args.catalog, &args.artifacts, &manifest, &request, verbose);
    if let Some(place) = &args.since.since {
        return since(args, (&manifest, &request), asked, place);
    }
    if !args.estimate {
        let catalog = inputs::catalog(args.catalog.catalog.as_deref(), asked)?;
        return inputs::plan(&manifest, &catalog, &request, verbose);
    }
    let (catalog, source) = artifacts::scan(asked)?;
    estimated(args, inputs::plan(&manifest, &catalog, &request, verbose)?, &*source)
}

fn estimated(args: &PlanArgs, mut plan: Plan, source: &dyn Source) -> Result<Plan, Failure> {
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

fn since(
    args: &PlanArgs,
    (manifest, request): (&Manifest, &Request),
    asked: Asked<'_>,
    place: &str,
) -> Result<Plan, Failure> {
    if args.catalog.catalog.is_some() {
        let message = "--since compares the bytes of files, which a saved catalog does not have";
        return Err(Problem::usage(Code::Environment, message)
            .help("give --artifact-dir or --store in place of --catalog")
            .into());
    }
    let (catalog, source) = artifacts::scan(asked)?;
    let digests = Digests::new(inputs::cache::look());
    let set = Set { place, manifest, catalog: &catalog, request, digests: &digests };
    let decided = set.decide(&set.whole()?, &*source)?;
    let mut plan = inputs::plan(manifest, &catalog, &decided.request, asked.verbose)?;
    decided.complete(&mut plan);
    estimated(args, plan, &*source)
}
