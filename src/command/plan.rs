//! `rockpack plan`: what a build would make, as text, JSON, Markdown or a web page.

use rockpack::plan::{self, Plan};

use super::{Failure, environment, print};
use crate::cli::PlanArgs;
use crate::inputs;

/// Prints the plan in the form that was asked for.
pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let plan = inputs::pool(args.set.jobs)?.install(|| made(args))?;
    let text = if args.json {
        serde_json::to_string_pretty(&plan).map_err(|e| environment(format!("cannot write the plan as JSON: {e}")))? + "\n"
    } else if args.files {
        plan::files_text(&plan)
    } else if args.markdown {
        plan::markdown_text(&plan)
    } else if args.html {
        plan::html_page(&plan)
    } else {
        plan::summary_text(&plan, args.set.verbose)
    };
    print(&text)
}

fn made(args: &PlanArgs) -> Result<Plan, Failure> {
    let manifest = inputs::manifest(args.set.manifest.as_deref())?;
    let catalog = inputs::catalog(&args.catalog, args.set.verbose)?;
    inputs::plan(&manifest, &catalog, &args.set)
}
