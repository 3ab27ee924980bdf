use super::describe::{has_program, is_optional, starts};
use super::install_tree::View;
use super::links::{Filled, Owners, is_shipped};
use super::place::{Placed, shared_library};
use super::select::{Refusal, Refusals};
use base::names::{RelPath, System};
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Manifest, Script, ScriptTarget};

/// Errors for scripts of a program that no package ships, or of a file that is not a program. `filled` and `shipped` have all
/// runtime distributions, `view` has the files that are installed with `one`.
pub(super) fn missing(
    manifest: &Manifest,
    one: &Filled<'_>,
    (filled, shipped): (&[Filled<'_>], &Owners<'_, '_>),
    view: &View<'_, '_>,
    system: System,
) -> Problems {
    let ships = |path: &RelPath| is_shipped(one, shipped, path);
    let mut problems = Problems::new();
    for script in one.dist.package.scripts.iter().filter(|script| !starts(script, system, ships)) {
        let ScriptTarget::Program(program) = &*script.target else { continue };
        let refusal = view
            .get(program)
            .and_then(|item| Refusals::new(manifest, &one.dist, item.artifact).refusal(item.entry));
        match refusal {
            // Before `optional`, because no build ships a program that the manifest excludes.
            Some(refusal @ Refusal::Excluded(_)) => {
                problems.push(excluded(script, program, one, refusal));
            }
            _ if is_optional(script, system, ships) => {}
            Some(refusal) => problems.push(excluded(script, program, one, refusal)),
            None => problems.push(absent(script, program, one, &cause(program, one, filled, view))),
        }
    }
    if system == System::Linux {
        one.dist.package.scripts.iter().for_each(|script| {
            problems.extend(not_started(script, one).map_or_else(Problems::new, Problems::from));
        });
    }
    problems
}

/// Warnings for programs that this target ships without a command, because only lines for other
/// targets declare their script.
pub(super) fn without_script(
    whole: &Manifest,
    manifest: &Manifest,
    filled: &[Filled<'_>],
    system: System,
) -> Problems {
    let mut problems = Problems::new();
    for one in filled {
        let name = &one.dist.package.name.value;
        let declared = whole.packages.get(name).map_or(&[][..], |package| &package.scripts);
        let scripts = manifest.packages.get(name).map_or(&[][..], |package| &package.scripts);
        let has_script = |script: &Script| {
            scripts.iter().any(|it| *it.name == *script.name || *it.target == *script.target)
        };
        let ships = |path: &RelPath| one.runtime.placed.contains_key(path);
        for script in declared.iter().filter(|script| !has_script(script)) {
            if let ScriptTarget::Program(program) = &*script.target
                && has_program(program, system, ships)
            {
                problems.push(without_command(script, program, one));
            }
        }
    }
    problems
}

fn without_command(script: &Script, program: &RelPath, one: &Filled<'_>) -> Problem {
    let (name, package) = (script.name.as_str(), &*one.dist.package.name);
    let message = format!("package `{package}` ships `{program}` without its script `{name}`");
    Problem::warning(Code::ScriptTarget, message)
        .label(&script.name.place, "this line is for other targets")
        .of_fact(fact_of(script, one))
        .help("add the script for this target too, or exclude the program")
}

fn excluded(script: &Script, program: &RelPath, one: &Filled<'_>, refusal: Refusal<'_>) -> Problem {
    Problem::error(Code::ScriptTarget, message(script, program, one))
        .label(refusal.place(), format!("this line {} it", refusal.verb()))
        .label(&script.target.place, "started here")
        .of_fact(fact_of(script, one))
        .help("take the program, or remove the script")
}

fn not_started(script: &Script, one: &Filled<'_>) -> Option<Problem> {
    let ScriptTarget::Program(program) = &*script.target else { return None };
    let (Placed::File(item), _) = one.runtime.placed.get(program)? else { return None };
    let label = match shared_library(item) {
        Some(facts) if facts.soname.is_some() => "this is a library",
        _ if !item.entry.is_executable() => "the file has no execute bit",
        _ => return None,
    };
    let name = script.name.as_str();
    let message = format!("script `{name}` starts `{program}`, which is not a program");
    let problem = Problem::error(Code::ScriptTarget, message).label(&script.target.place, label);
    Some(problem.of_fact(fact_of(script, one)).help("name a program, or correct the build"))
}

fn message(script: &Script, program: &RelPath, one: &Filled<'_>) -> String {
    let (name, package) = (script.name.as_str(), &*one.dist.package.name);
    format!("script `{name}` starts `{program}`, which package `{package}` does not ship")
}

fn fact_of(script: &Script, one: &Filled<'_>) -> String {
    format!("{} {}", *one.dist.package.name, script.name.as_str())
}

fn absent(script: &Script, program: &RelPath, one: &Filled<'_>, cause: &str) -> Problem {
    Problem::error(Code::ScriptTarget, message(script, program, one))
        .label(&script.target.place, cause)
        .of_fact(fact_of(script, one))
        .help("correct the path, remove the line, or give a reason: optional=\"…\"")
}

fn cause(
    program: &RelPath,
    one: &Filled<'_>,
    filled: &[Filled<'_>],
    view: &View<'_, '_>,
) -> String {
    if one.runtime.placed.contains_key(program) {
        return "it is a link to a program that no runtime package ships".into();
    }
    if let Some(absent) = one.runtime.absent.iter().find(|absent| absent.path == *program) {
        return format!("it is absent: {}", absent.reason);
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
