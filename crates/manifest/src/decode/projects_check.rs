//! Checks of projects and wheels against each other.

use super::{Context, Once};
use crate::Python;
use base::names::PackageName;
use base::source::{Code, Place, Problem, Spanned, nearest};
use base::target::Condition;

mod places;

pub(super) fn check(context: &Context<'_>, python: &Python) {
    let projects = &python.projects;
    let packages = || context.declared.iter().map(|(name, declared)| (*name, &declared.place));
    let mut earlier: Vec<&Spanned<PackageName>> = Vec::new();
    let mut places: Vec<&Spanned<PackageName>> = python.names().collect();
    places.sort_by_key(|name| name.place.line());
    for name in places {
        let first =
            packages().find(|(declared, _)| *declared == name.as_str()).map(|(_, place)| place);
        let first = first.or_else(|| {
            earlier.iter().find(|first| first.value == name.value).map(|first| &first.place)
        });
        if let Some(first) = first.filter(|_| !falls_back(python, name)) {
            let problem =
                Problem::error(Code::GivenTwice, format!("`{}` is declared twice", name.value));
            context.faults.report(
                problem.label(&name.place, "declared again").label(first, "first declared here"),
            );
        }
        earlier.push(name);
    }
    for after in projects.iter().flat_map(|project| &project.after) {
        check_after(context, after, &context.projects);
    }
    refuse_repeated(
        context,
        python.checkouts.iter().map(|c| (c.directory.as_str(), &c.directory.place)),
    );
    refuse_repeated(context, python.variables.iter().map(|(name, _)| (name.as_str(), &name.place)));
    check_left_out(context, python);
    places::check(context, python);
}

/// Returns true if the name is of an optional project and of the `prefetch` line that provides its
/// wheel in builds without its sources.
fn falls_back(python: &Python, name: &PackageName) -> bool {
    let optional = python.project(name).is_some_and(|project| project.optional.is_some());
    let same_name = python.names().filter(|candidate| candidate.value == *name);
    optional && same_name.count() == 2 && python.prefetched.iter().any(|p| p.name.value == *name)
}

fn check_left_out(context: &Context<'_>, python: &Python) {
    let common = &python.every;
    let set = common.environment.iter().map(|(name, _)| name.as_str());
    let variables: Vec<&str> = set.chain(common.pass.iter().map(String::as_str)).collect();
    let left_out = python.projects.iter().flat_map(|project| &project.without_env);
    for name in left_out.filter(|name| !variables.contains(&name.as_str())) {
        let hint = nearest(name.as_str(), variables.iter().copied());
        let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("`every-project` has no variable `{}`", name.value);
        let problem = Problem::error(Code::LeavesOutNothing, message)
            .label(&name.place, format!("this line has no effect{hint}"));
        context.faults.report(problem.help("correct the name, or remove the line"));
    }
}

fn refuse_repeated<'p>(context: &Context<'_>, names: impl Iterator<Item = (&'p str, &'p Place)>) {
    let once = Once::default();
    for (name, place) in names {
        once.give(context.faults, ("name", name), Condition::default(), place);
    }
}

fn check_after(context: &Context<'_>, after: &Spanned<PackageName>, declared: &[(String, Place)]) {
    if declared.iter().any(|(name, _)| name == after.as_str()) {
        return;
    }
    let names = || declared.iter().map(|(name, _)| name.as_str());
    if let Some(package) = context.declared.get(after.as_str()) {
        let problem = Problem::error(
            Code::WrongKind,
            format!("`{}` is a package of artifacts, not a project or wheel", after.value),
        );
        let problem = problem
            .label(&after.place, "name a project or a wheel")
            .label(&package.place, "declared here");
        return context.faults.report(
            problem.help("remove the name: packages of artifacts are built before all projects"),
        );
    }
    let problem =
        Problem::error(Code::UnknownPackage, format!("unknown project or wheel `{}`", after.value));
    let label = match nearest(after.as_str(), names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "unknown name".to_owned(),
    };
    let list = crate::reader::listed(names());
    context.faults.report(
        problem.label(&after.place, label).help(format!("the projects and wheels are {list}")),
    );
}
