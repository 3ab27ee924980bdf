//! `python-project` and `wheel`.

use super::text::{LibrarySelection, Variable};
use super::{Context, Node, Once};
use crate::manifest::python::{
    Libraries, PythonProject, ReadyWheel, Requirement, RequirementError, Setting, SettingError,
    WheelSource,
};
use crate::manifest::reader::Reason;
use crate::manifest::{Filling, Glob, Pin};
use crate::names::{PackageName, RelPath};
use crate::source::{Code, Place, Problem, Spanned, nearest};
use crate::target::Condition;

/// Reads one `python-project`.
pub(super) fn project<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<PythonProject> {
    let name = node.argument::<PackageName>("a name");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let (mut lines, once) = (node.block(), Once::default());
    let source = lines.once("source", source);
    let after = lines
        .every("after", |n| Some(n.at_least_one::<PackageName>("a project or a wheel")))
        .concat();
    let run = lines.every("run", |n| {
        Some(n.at_least_one::<Setting>("a program").into_iter().map(|s| s.value).collect())
    });
    let build_requires =
        lines.every("build-requires", |n| Some(n.at_least_one::<Requirement>("a requirement")));
    let environment = lines.every("env", |n| pair::<Variable>(n, "a variable"));
    let libraries = lines.at_most_once("bindings", libraries);
    let pass = lines.every("pass", |n| Some(n.at_least_one::<Variable>("a variable")));
    let pass: Vec<_> = pass.into_iter().flatten().collect();
    let config_settings = lines.every("config-setting", |n| pair::<String>(n, "a key"));
    let isolated = lines.at_most_once("no-isolation", |_| Some(())).is_none();
    lines.finish();
    let environment: Vec<_> = environment
        .into_iter()
        .map(|(key, value)| (Spanned::new(key.value.0, key.place), value))
        .collect();
    let variables = environment
        .iter()
        .map(|(key, _)| key)
        .chain(libraries.as_ref().map(|l: &Libraries| &l.variable));
    let variables = variables
        .map(|v| (v.as_str(), &v.place))
        .chain(pass.iter().map(|v| (v.0.as_str(), &v.place)));
    for (name, place) in variables {
        once.give(context.faults, ("environment variable", name), Condition::default(), place);
    }
    for name in &after {
        once.give(context.faults, ("after", name.as_str()), Condition::default(), &name.place);
    }
    let (source, subdirectory) = source?;
    Some(PythonProject {
        name: name?,
        source,
        subdirectory,
        after,
        run,
        build_requires: build_requires.concat().into_iter().map(|r| r.value).collect(),
        environment,
        libraries,
        pass: pass.into_iter().map(|v| v.value.0).collect(),
        config_settings,
        isolated,
        optional,
    })
}

fn source(node: &mut Node<'_>) -> Option<(Spanned<RelPath>, Option<RelPath>)> {
    let source = node.argument::<RelPath>("a directory");
    let subdirectory = node.property::<RelPath>("subdirectory").map(|s| s.value);
    Some((source?, subdirectory))
}

fn pair<K: super::FromText>(node: &mut Node<'_>, what: &str) -> Option<(Spanned<K>, Setting)> {
    let key = node.argument::<K>(what);
    let value = node.argument::<Setting>("a value");
    Some((key?, value?.value))
}

fn libraries(node: &mut Node<'_>) -> Option<Libraries> {
    let names = node.at_least_one::<LibrarySelection>("a library");
    let variable = node.required::<Variable>("env")?;
    if let Some(late) = names.iter().skip(1).find(|name| name.value.0.starts_with('^')) {
        let problem =
            Problem::error(Code::InvalidText, "`^` in the middle of a selection of libraries");
        node.report(
            problem
                .label(&late.place, "it can stand before the first only")
                .help("with `^` before the first, all but these are meant"),
        );
    }
    let value = names.into_iter().map(|name| name.value.0).collect::<Vec<_>>().join(",");
    Some(Libraries { variable: Spanned::new(variable.value.0, variable.place), value })
}

/// Reads one `wheel`.
pub(super) fn wheel(node: &mut Node<'_>) -> Option<ReadyWheel> {
    let name = node.argument::<PackageName>("a name");
    let both = node.has("path") && node.has("index");
    let (path, index) = (node.property::<Glob>("path"), node.property::<Pin>("index"));
    let optional = node.property::<String>("optional").map(|o| o.value);
    if both || (path.is_none() && index.is_none()) {
        let title = node.title();
        if both {
            node.fault(format!("`{title}` has `path` and `index`"), "keep one of them");
        } else if !node.had("path") && !node.had("index") {
            node.fault(format!("`{title}` lacks `path` or `index`"), "say where it comes from");
        }
        return None;
    }
    let name = name?;
    if let Some(index) = &index {
        check_pin(node, &name, index);
    }
    let from =
        path.map(|glob| WheelSource::Files(Box::new(glob))).or(index.map(WheelSource::Index))?;
    Some(ReadyWheel { name, from, optional })
}

fn check_pin(node: &Node<'_>, name: &Spanned<PackageName>, index: &Spanned<Pin>) {
    let pinned = index.name().parse::<crate::names::DistName>().map(|name| name.normalized());
    if pinned.is_ok_and(|pinned| pinned != name.as_str()) {
        let problem = Problem::error(
            Code::InvalidText,
            format!("wheel `{}` is to be of another distribution, `{}`", name.value, index.name()),
        );
        node.report(
            problem
                .label(&index.place, "names another")
                .label(&name.place, "this is its name")
                .help("write the same name twice"),
        );
    }
}

/// What only the declarations together can get wrong. `packages` are the names that packages have.
pub(super) fn check(
    context: &Context<'_>,
    projects: &[PythonProject],
    wheels: &[ReadyWheel],
    declared: &[(String, Place)],
) {
    let packages = || context.declared.iter().map(|(name, declared)| (*name, &declared.place));
    let mut named: Vec<&Spanned<PackageName>> = Vec::new();
    let mut places: Vec<&Spanned<PackageName>> =
        projects.iter().map(|p| &p.name).chain(wheels.iter().map(|w| &w.name)).collect();
    places.sort_by_key(|name| name.place.line());
    for name in places {
        let first = packages().find(|(other, _)| *other == name.as_str()).map(|(_, place)| place);
        let first = first.or_else(|| {
            named.iter().find(|other| other.value == name.value).map(|other| &other.place)
        });
        if let Some(first) = first {
            let problem =
                Problem::error(Code::GivenTwice, format!("`{}` is declared twice", name.value));
            context.faults.report(
                problem
                    .label(&name.place, "declared again here")
                    .label(first, "first declared here"),
            );
        }
        named.push(name);
    }
    for after in projects.iter().flat_map(|project| &project.after) {
        check_after(context, after, declared);
    }
}

fn check_after(context: &Context<'_>, after: &Spanned<PackageName>, declared: &[(String, Place)]) {
    if declared.iter().any(|(name, _)| name == after.as_str()) {
        return;
    }
    let names = || declared.iter().map(|(name, _)| name.as_str());
    if let Some(package) = context.declared.get(after.as_str()) {
        let problem =
            Problem::error(Code::WrongKind, format!("`{}` is a package of artifacts", after.value));
        let problem = problem
            .label(&after.place, "a project or a wheel has to stand here")
            .label(&package.place, "declared here");
        return context.faults.report(
            problem.help("take the name away: packages of artifacts are built before all projects"),
        );
    }
    let problem = Problem::error(
        Code::UnknownPackage,
        format!("there is no project or wheel `{}`", after.value),
    );
    let label = match nearest(after.as_str(), names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "nothing in this file has this name".to_owned(),
    };
    let known = crate::manifest::reader::listed(names());
    context.faults.report(
        problem.label(&after.place, label).help(format!("projects and wheels here are {known}")),
    );
}

impl Reason for SettingError {
    fn message(&self) -> String {
        self.to_string()
    }

    fn label(&self) -> String {
        match nearest(&self.placeholder, Filling::ALL.map(Filling::word)) {
            Some(near) => format!("did you mean `{{{near}}}`?"),
            None => "nothing fills this".to_owned(),
        }
    }

    fn help(&self) -> Option<String> {
        let words = Filling::ALL.map(|f| format!("{{{}}}", f.word()));
        Some(format!(
            "placeholders are {}",
            crate::manifest::reader::listed(words.iter().map(String::as_str))
        ))
    }
}

impl Reason for RequirementError {
    fn message(&self) -> String {
        format!("`{}` is not {}", self.text, self.kind)
    }

    fn label(&self) -> String {
        self.reason.to_owned()
    }
}
