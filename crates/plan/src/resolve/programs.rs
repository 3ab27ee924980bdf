use super::describe::starts;
use super::install_tree::View;
use super::links::{Filled, Owners, is_shipped};
use base::names::{RelPath, System};
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Script, ScriptTarget};

/// Reports console scripts without a program. `filled` has all runtime distributions, `view` the
/// files installed with `one`.
pub(super) fn missing(
    one: &Filled<'_>,
    filled: &[Filled<'_>],
    view: &View<'_, '_>,
    system: System,
) -> Problems {
    let shipped = Owners::new(filled);
    let ships = |path: &RelPath| is_shipped(one, &shipped, path);
    let mut problems = Problems::new();
    for script in one
        .dist
        .package
        .scripts
        .iter()
        .filter(|script| script.optional.is_none() && !starts(script, system, ships))
    {
        if let ScriptTarget::Program(program) = &*script.target {
            problems.push(problem(script, program, one, &why(program, one, filled, view)));
        }
    }
    problems
}

fn problem(script: &Script, program: &RelPath, one: &Filled<'_>, why: &str) -> Problem {
    let (name, package) = (script.name.as_str(), &*one.dist.package.name);
    Problem::error(
        Code::ScriptTarget,
        format!("script `{name}` starts `{program}`, which package `{package}` does not ship"),
    )
    .label(&script.target.place, why)
    .of_fact(format!("{package} {name}"))
    .help("correct the path, remove the line, or give a reason: optional=\"…\"")
}

fn why(program: &RelPath, one: &Filled<'_>, filled: &[Filled<'_>], view: &View<'_, '_>) -> String {
    if one.runtime.placed.contains_key(program) {
        return "it is a link to a program that no runtime package ships".into();
    }
    if let Some(absent) = one.runtime.absent.iter().find(|absent| absent.path == *program) {
        return format!("it is left out: {}", absent.reason);
    }
    if let Some(other) = filled.iter().find(|f| f.runtime.placed.contains_key(program)) {
        return format!("package `{}` ships it", *other.dist.package.name);
    }
    if let Some(item) = view.get(program) {
        return format!(
            "artifact `{}` has it, but this package does not take that artifact",
            item.artifact.id
        );
    }
    nearest(program.as_str(), one.runtime.placed.keys().map(RelPath::as_str)).map_or_else(
        || "no such file".to_owned(),
        |near| format!("no such file; did you mean `{near}`?"),
    )
}
