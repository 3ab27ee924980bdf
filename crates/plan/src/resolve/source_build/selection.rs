use super::Context;
use crate::Request;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Libraries, Manifest, Selection, SourceProject};

/// Selection in the project's syntax; names if the checkout's libraries are known.
pub(super) fn value(
    context: &Context<'_>,
    project: &SourceProject,
    libraries: &Libraries,
    problems: &mut Problems,
) -> String {
    let name = &project.name.value;
    let asked = context.request.libraries.iter().rev().find(|(other, _)| other == name);
    let selection =
        asked.map_or_else(|| libraries.selection.clone(), |(_, list)| Selection::parse(list));
    let all = selection.names == ["*"] && !selection.without;
    let Some(known) = context.sources.libraries.get(name).filter(|_| !all) else {
        return selection.to_string();
    };
    let label = match asked {
        Some(_) => "--libs overrides this line",
        None => "selected here",
    };
    let mut report = |text: String, help: String| {
        let problem = Problem::error(Code::InvalidText, text);
        problems.push(problem.label(&libraries.variable.place, label).help(help));
    };
    let has = format!("its checkout has {}", known.join(", "));
    match selection.among(known) {
        Ok(chosen) if !chosen.is_empty() => return chosen.join(","),
        Ok(_) => report(format!("`{selection}` selects no library of `{name}`"), has),
        Err(unknown) => {
            let near = nearest(&unknown, known.iter().map(String::as_str));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            report(format!("`{name}` has no library `{unknown}`"), format!("{near}{has}"));
        }
    }
    selection.to_string()
}

pub(super) fn unknown(manifest: &Manifest, request: &Request) -> Problems {
    let known = manifest.python.projects.iter().filter(|project| project.libraries.is_some());
    let known: Vec<&str> = known.map(|project| project.name.as_str()).collect();
    let mut problems = Problems::new();
    for (name, _) in request.libraries.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let text = format!("--libs: no project `{name}` with a `bindings` line");
        let near = nearest(name.as_str(), known.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = format!("{near}the projects with one are {}", known.join(", "));
        problems.push(Problem::usage(Code::UnknownPackage, text).help(help));
    }
    problems
}
