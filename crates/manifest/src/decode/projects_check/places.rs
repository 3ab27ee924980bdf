//! Placeholders without a value in settings.

use crate::decode::Context;
use crate::reader::listed;
use crate::{Filling, Prefetch, Python, Setting, SourceProject};
use base::names::PackageName;
use base::source::{Code, Place, Problem, Spanned, nearest};

#[derive(Clone, Copy)]
enum Owner<'p> {
    /// Cannot use other variables.
    Variable,
    /// `every-project`.
    Every,
    Project(&'p SourceProject),
    /// `prefetch`, before anything is built.
    Prefetch,
    /// Commands for tests, or (`true`) for documentation.
    Trial(bool),
}

pub(super) fn check(context: &Context<'_>, python: &Python) {
    for (_, value) in &python.variables {
        setting(context, python, Owner::Variable, value);
    }
    for (_, value) in &python.every.environment {
        setting(context, python, Owner::Every, value);
    }
    for value in python.prefetched.iter().filter_map(Prefetch::settings) {
        setting(context, python, Owner::Prefetch, value);
    }
    for project in &python.projects {
        for value in project.settings() {
            setting(context, python, Owner::Project(project), value);
        }
        for (trial, docs) in [(&project.tests, false), (&project.docs, true)] {
            for value in trial.commands.iter().flat_map(|command| &command.words) {
                setting(context, python, Owner::Trial(docs), value);
            }
        }
    }
}

fn setting(context: &Context<'_>, python: &Python, owner: Owner<'_>, value: &Spanned<Setting>) {
    for filling in value.places() {
        match (&filling, owner) {
            (Filling::PrefixOf(name), Owner::Project(project)) => {
                prefix_of(context, python, project, name, &value.place);
            }
            _ if is_filled(python, owner, &filling) => {}
            _ => unknown(context, python, owner, value, &filling),
        }
    }
}

/// Returns whether `owner` can use a placeholder; `false` for prefixes of projects.
fn is_filled(python: &Python, owner: Owner<'_>, filling: &Filling) -> bool {
    match (filling, owner) {
        (Filling::Prefix, Owner::Project(project)) => project.native.is_some(),
        (Filling::Docs, Owner::Trial(docs)) => docs,
        // An environment with installed packages has no tree to build against.
        (Filling::Prefix | Filling::PrefixOf(_) | Filling::Docs, _)
        | (Filling::Devel, Owner::Trial(_))
        | (Filling::Variable(_), Owner::Variable) => false,
        (Filling::Variable(name), _) => python.variables.iter().any(|(v, _)| v.as_str() == name),
        (Filling::Isas | Filling::IsasOf(_), _) => true,
        (_, Owner::Prefetch) => false,
        _ => true,
    }
}

fn fillings(python: &Python, owner: Owner<'_>) -> Vec<String> {
    let fixed = Filling::FIXED.into_iter().filter(|filling| is_filled(python, owner, filling));
    let fixed = fixed.map(|filling| filling.word());
    let variables = python.variables.iter().map(|(name, _)| name.to_string());
    let variables = variables.filter(|_| !matches!(owner, Owner::Variable));
    let before = match owner {
        Owner::Project(project) => native_before(python, project),
        Owner::Variable | Owner::Every | Owner::Prefetch | Owner::Trial(_) => Vec::new(),
    };
    let mut words: Vec<String> = fixed.chain(variables).collect();
    words.dedup();
    words.extend(before.iter().map(|name| format!("prefix:{name}")));
    words
}

fn unknown(
    context: &Context<'_>,
    python: &Python,
    owner: Owner<'_>,
    value: &Spanned<Setting>,
    filling: &Filling,
) {
    let (word, words) = (filling.word(), fillings(python, owner));
    let message = format!("`{}` has an unknown placeholder `{{{word}}}`", value.value);
    let label = match nearest(&word, words.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{{{near}}}`?"),
        None => "no value for it here".to_owned(),
    };
    let words: Vec<String> = words.iter().map(|word| format!("{{{word}}}")).collect();
    let help = format!("the placeholders are {}", listed(words.iter().map(String::as_str)));
    let problem = Problem::error(Code::InvalidText, message).label(&value.place, label);
    context.faults.report(problem.help(help));
}

fn native_before<'p>(python: &'p Python, project: &'p SourceProject) -> Vec<&'p PackageName> {
    let (mut projects, mut next) = (Vec::new(), vec![project]);
    while let Some(project) = next.pop() {
        for name in &project.after {
            if !projects.contains(&&name.value) {
                projects.push(&name.value);
                next.extend(python.project(name));
            }
        }
    }
    projects.retain(|name| python.project(name).is_some_and(|p| p.native.is_some()));
    projects.sort();
    projects
}

fn prefix_of(
    context: &Context<'_>,
    python: &Python,
    project: &SourceProject,
    name: &PackageName,
    place: &Place,
) {
    if native_before(python, project).contains(&name) {
        return;
    }
    let report = |message: String, label: &str, help: String| {
        let problem = Problem::error(Code::UnknownPackage, message).label(place, label);
        context.faults.report(problem.help(help));
    };
    let native_project = python.project(name).filter(|candidate| candidate.native.is_some());
    if native_project.is_some() {
        report(
            format!(
                "`{}` uses the prefix of `{name}`, but is not built after it",
                project.name.value
            ),
            "the prefix may not exist yet",
            format!("add the line `after \"{name}\"`"),
        );
    } else {
        let natives = python.projects.iter().filter(|p| p.native.is_some());
        let names: Vec<&str> = natives.map(|p| p.name.as_str()).collect();
        let help = if names.is_empty() {
            "declare it: `native-project \"NAME\" { … }`".to_owned()
        } else {
            format!("the native projects are {}", listed(names))
        };
        report(format!("unknown native project `{name}`"), "no prefix for it", help);
    }
}
