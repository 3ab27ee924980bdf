//! `rockpack explain`.

use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::counted;
use plan::resolve::explain::{
    Argument, Document, Explainer, ManifestByMode, explanation_text, matches_text,
};

use super::{Failure, environment, print, print_exact};
use crate::builtin;
use crate::cli::ExplainArgs;
use crate::inputs::{self, artifacts};
use crate::ui;

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let manifest = inputs::manifest::read(args.set.manifest.as_deref())?;
    let request = inputs::request(&manifest, &args.set)?;
    // Without notes about absent base directories, which are no news for one path.
    let is_verbose = false;
    let artifacts = artifacts::ArtifactOptions::new(
        &args.catalog,
        &args.artifacts,
        &manifest,
        &request,
        is_verbose,
    );
    let catalog = inputs::pool(args.set.threads.jobs)?
        .install(|| inputs::catalog(args.catalog.catalog.as_deref(), artifacts))?;
    let manifest = ManifestByMode::new(&manifest, &catalog, &request);
    let explainer = Explainer::new(&manifest, &catalog, &builtin::templates(), &request)?;
    match explainer
        .find(&args.path)
        .map_err(|e| Problem::usage(Code::Environment, e).help(FORMS))?
    {
        Argument::Path(path) => {
            let explanation = explainer.explain(&path);
            if args.json {
                return print_exact(&json(&Document::Path(explanation))?);
            }
            print(&explanation_text(&explanation, args.set.verbose))
        }
        Argument::Glob(paths) if !paths.is_empty() => {
            let matches = explainer.matches(paths);
            if args.json {
                return print_exact(&json(&Document::Glob(matches))?);
            }
            print(&matches_text(&matches.matches, args.set.verbose))?;
            if let Some(note) = any_depth_hint(&explainer, &args.path, matches.matches.len()) {
                ui::print_message(&format!("note: {note}"));
            }
            Ok(())
        }
        Argument::Glob(_) => {
            let message = format!("no path of an artifact or a package matches `{}`", args.path);
            let Some(help) = any_depth_hint(&explainer, &args.path, 0) else {
                return Err(unknown(message, &[]));
            };
            Err(Failure::Problems(Problem::error(Code::UnknownPath, message).help(help).into()))
        }
        Argument::Unknown(near) => {
            Err(unknown(format!("no artifact or package has `{}`", args.path), &near))
        }
    }
}

/// Forms of the argument.
const FORMS: &str = "write a path below the root of the installation (`lib/libx.so.1`) or below \
    site-packages (`_NAME/lib/libx.so.1`)";

fn json(value: &Document) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| environment(format!("cannot write JSON: {e}")))
}

/// Returns a hint if the glob matches more than `count` paths at any depth.
fn any_depth_hint(explainer: &Explainer<'_>, glob: &str, count: usize) -> Option<String> {
    let any_depth_glob = format!("**/{glob}");
    let Ok(Argument::Glob(paths)) = explainer.find(&any_depth_glob) else { return None };
    let (total, last) = (counted(paths.len(), "path"), paths.last()?);
    let text = format!(
        "globs begin at the root of the installation; `{any_depth_glob}` matches {total} at any \
         depth, such as `{last}`"
    );
    (paths.len() > count).then_some(text)
}

/// A problem (status 1), not a usage error: other artifacts can have the path.
fn unknown(message: String, near: &[RelPath]) -> Failure {
    let help = if near.is_empty() {
        "list all paths with the glob `**` and -v".to_owned()
    } else {
        let near: Vec<String> = near.iter().map(|path| format!("  {path}")).collect();
        format!("similar paths:\n{}", near.join("\n"))
    };
    Failure::Problems(Problem::error(Code::UnknownPath, message).help(help).into())
}
