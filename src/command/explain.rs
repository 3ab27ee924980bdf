//! `rockpack explain`.

use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::counted;
use plan::resolve::explain::{
    Asked, Document, Explainer, ManifestByMode, explanation_text, matches_text,
};

use super::{Failure, environment, print, print_exact};
use crate::builtin;
use crate::cli::ExplainArgs;
use crate::inputs::{self, artifacts};
use crate::ui;

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let manifest = inputs::manifest::read(args.set.manifest.as_deref())?;
    let request = inputs::request(&manifest, &args.set)?;
    // Absent directories do not matter for one path.
    let asked = artifacts::Asked::new(&args.catalog, &args.artifacts, &manifest, &request, false);
    let catalog = inputs::pool(args.set.threads.jobs)?
        .install(|| inputs::catalog(args.catalog.catalog.as_deref(), asked))?;
    let manifest = ManifestByMode::new(&manifest, &catalog, &request);
    let explainer = Explainer::new(&manifest, &catalog, &builtin::templates(), &request)?;
    match explainer
        .find(&args.path)
        .map_err(|e| Problem::usage(Code::Environment, e).help(FORMS))?
    {
        Asked::Path(path) => {
            let explanation = explainer.explain(&path);
            if args.json {
                return print_exact(&json(&Document::Path(explanation))?);
            }
            print(&explanation_text(&explanation, args.set.verbose))
        }
        Asked::Glob(paths) if !paths.is_empty() => {
            let matches = explainer.matches(paths);
            if args.json {
                return print_exact(&json(&Document::Glob(matches))?);
            }
            print(&matches_text(&matches.matches, args.set.verbose))?;
            let deeper = deeper(&explainer, &args.path, matches.matches.len());
            if let Some(note) = deeper {
                ui::tell(&format!("note: {note}"));
            }
            Ok(())
        }
        Asked::Glob(_) => {
            let message = format!("no path of an artifact or a package matches `{}`", args.path);
            let Some(help) = deeper(&explainer, &args.path, 0) else {
                return Err(unknown(message, &[]));
            };
            Err(Failure::Problems(Problem::error(Code::UnknownPath, message).help(help).into()))
        }
        Asked::Unknown(near) => {
            Err(unknown(format!("no artifact or package has `{}`", args.path), &near))
        }
    }
}

const FORMS: &str = "write a path below the root of the installation (`lib/libx.so.1`) or below \
    site-packages (`_NAME/lib/libx.so.1`)";

fn json(value: &Document) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| environment(format!("cannot write JSON: {e}")))
}

fn deeper(explainer: &Explainer<'_>, glob: &str, count: usize) -> Option<String> {
    let deeper = format!("**/{glob}");
    let Ok(Asked::Glob(paths)) = explainer.find(&deeper) else { return None };
    let (total, last) = (counted(paths.len(), "path"), paths.last()?);
    let text = format!(
        "globs begin at the root of the installation; for {total} at any depth, such as `{last}`: \
         rockpack explain '{deeper}'"
    );
    (paths.len() > count).then_some(text)
}

/// Blames the artifacts, not the command line.
fn unknown(message: String, near: &[RelPath]) -> Failure {
    let help = if near.is_empty() {
        "list all paths with: rockpack explain '**' -v".to_owned()
    } else {
        let near: Vec<String> = near.iter().map(|path| format!("  {path}")).collect();
        format!("similar paths:\n{}", near.join("\n"))
    };
    Failure::Problems(Problem::error(Code::UnknownPath, message).help(help).into())
}
