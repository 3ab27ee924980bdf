//! `rockpack plan`: the plan of a build in several forms.

use base::source::{Code, Problem};
use build::execute;
use plan::Plan;
use plan::review;

use super::{Failure, environment, not_executed, print, print_exact};
use crate::cli::{PlanArgs, PlanFormat};
use crate::inputs::{
    self,
    artifacts::{self, Asked},
};

pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let (format, most) = args.format().map_err(|text| Problem::usage(Code::Environment, text))?;
    let plan = inputs::pool(args.set.threads.jobs)?.install(|| made(args))?;
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
    let manifest = inputs::manifest::manifest(args.set.manifest.as_deref())?;
    let request = inputs::request(&manifest, &args.set)?;
    let verbose = args.set.verbose;
    let asked = Asked::new(&args.catalog, &args.artifacts, &manifest, &request, verbose);
    if !args.estimate {
        let catalog = inputs::catalog(args.catalog.catalog.as_deref(), asked)?;
        return inputs::plan(&manifest, &catalog, &request, verbose);
    }
    let (catalog, source) = artifacts::scan(asked)?;
    let mut plan = inputs::plan(&manifest, &catalog, &request, verbose)?;
    let sizes = execute::estimate(&plan, &*source).map_err(|e| not_executed(&e))?;
    for (distribution, size) in plan.distributions.iter_mut().zip(sizes) {
        distribution.estimate = Some(size);
    }
    Ok(plan)
}
