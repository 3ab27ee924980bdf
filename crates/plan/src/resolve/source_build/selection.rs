use super::{Context, Resolved};
use crate::Request;
use base::names::PackageName;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Libraries, Manifest, Selection, SourceProject};

/// Value of the project's variable: `*`, or the selected libraries and the libraries that they import.
/// Without the checkout, its libraries are unknown, so that a `^…` selection stays as written.
pub(super) fn selected_libraries(
    context: &Context<'_>,
    project: &SourceProject,
    libraries: &Libraries,
    resolved: &mut Resolved,
) -> String {
    let name = &project.name.value;
    // The last --libs of a project counts.
    let requested = context.request.libraries.iter().rev().find(|(project, _)| project == name);
    let selection =
        requested.map_or_else(|| libraries.selection.clone(), |(_, list)| Selection::parse(list));
    if selection.names == ["*"] && !selection.without {
        return selection.to_string();
    }
    let mut chosen = match context.sources.libraries.get(name) {
        None if selection.without => return selection.to_string(),
        None => selection.names.clone(),
        Some(available) => match selection.among(available) {
            Ok(chosen) if !chosen.is_empty() => chosen,
            result => {
                let label = match requested {
                    Some(_) => "--libs overrides this line",
                    None => "selected here",
                };
                let problem = selection_problem(&selection, name, available, result.err());
                resolved.problems.push(problem.label(&libraries.variable.place, label));
                return selection.to_string();
            }
        },
    };
    for (imported, importer) in libraries.with_imports(&mut chosen) {
        resolved
            .notes
            .push(format!("`{name}` gets the library {imported}, imported by {importer}"));
    }
    chosen.join(",")
}

fn selection_problem(
    selection: &Selection,
    name: &PackageName,
    available: &[String],
    unknown: Option<String>,
) -> Problem {
    let choices = format!("its checkout has {}", available.join(", "));
    let Some(unknown) = unknown else {
        let text = format!("`{selection}` selects no library of `{name}`");
        return Problem::error(Code::InvalidText, text).help(choices);
    };
    let near = nearest(&unknown, available.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let text = format!("`{name}` has no library `{unknown}`");
    Problem::error(Code::InvalidText, text).help(format!("{near}{choices}"))
}

/// Reports --libs of projects that do not exist, or have no libraries to select.
pub(super) fn check_requested(manifest: &Manifest, request: &Request) -> Problems {
    let names = manifest.python.projects.iter().filter(|project| project.libraries.is_some());
    let names: Vec<&str> = names.map(|project| project.name.as_str()).collect();
    let mut problems = Problems::new();
    for (name, _) in request.libraries.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
        let text = format!("--libs: no project `{name}` with a `bindings` line");
        let near = nearest(name.as_str(), names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = match &names[..] {
            [] => "remove it: no project of this manifest has one".to_owned(),
            names => format!("{near}the projects with one are {}", names.join(", ")),
        };
        problems.push(Problem::usage(Code::UnknownPackage, text).help(help));
    }
    problems
}
