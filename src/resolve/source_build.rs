//! Which Python projects are built beside the packages of artifacts, and which wheels are taken.

use std::collections::{BTreeMap, BTreeSet};

use super::resolved_dist::ResolvedDist;
use crate::manifest::{Filling, Manifest, PackageKind, PythonProject, ReadyWheel, WheelSource};
use crate::names::PackageName;
use crate::plan::{DevelTree, ProjectBuild, Request, Sources, TakenWheel};
use crate::source::{Code, Problem, Problems};
use crate::target::Per;
use crate::version::Version;

/// Projects in the order in which they can be built, wheels in that of the manifest, and what is to be said of them.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub projects: Vec<ProjectBuild>,
    pub wheels: Vec<TakenWheel>,
    pub devel: Option<DevelTree>,
    pub notes: Vec<String>,
    /// What is optional and not there, by reason.
    absent: BTreeMap<String, Vec<String>>,
    pub problems: Problems,
}

/// Every name that `--only` can give beside those of packages.
pub(super) fn names(manifest: &Manifest) -> impl Iterator<Item = &PackageName> {
    let python = &manifest.python;
    python.projects.iter().map(|p| &p.name.value).chain(python.wheels.iter().map(|w| &w.name.value))
}

/// What is built of sources, and what is taken, of all that the manifest declares.
pub(super) fn resolve(
    manifest: &Manifest,
    request: &Request,
    all: &[ResolvedDist<'_>],
    version: &Version,
) -> Resolved {
    let mut resolved = Resolved::default();
    let wanted = |name: &PackageName| request.wants(name);
    let mut unread: Vec<&PackageName> = Vec::new();
    for wheel in manifest.python.wheels.iter().filter(|w| wanted(&w.name)) {
        match (&wheel.from, &request.sources) {
            (WheelSource::Files(_), None) => unread.push(&wheel.name),
            (_, sources) => take(wheel, sources.as_ref(), &mut resolved),
        }
    }
    let devel = devel(all, version);
    for project in in_order(&manifest.python.projects).into_iter().filter(|p| wanted(&p.name)) {
        match &request.sources {
            None => unread.push(&project.name),
            Some(sources) => build(manifest, project, sources, devel.is_some(), &mut resolved),
        }
    }
    resolved.devel = devel.filter(|_| resolved.projects.iter().any(|p| p.devel));
    without_sources(request, &unread, &mut resolved);
    resolved.notes.extend(absent(&resolved.absent));
    resolved
}

/// A note of what needs `--sources`; where it was asked for by name, an error.
fn without_sources(request: &Request, unread: &[&PackageName], resolved: &mut Resolved) {
    let names: Vec<String> = unread.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return;
    }
    let names = names.join(", ");
    if request.only.is_empty() {
        resolved.notes.push(format!("left out, since no --sources are given: {names}"));
    } else {
        let problem = Problem::usage(
            Code::MissingSource,
            format!("--only: {names} cannot be made without sources"),
        );
        resolved.problems.push(problem.help("say where the checkouts are: --sources DIR"));
    }
}

fn take(wheel: &ReadyWheel, sources: Option<&Sources>, resolved: &mut Resolved) {
    let (name, rule) = (wheel.name.value.clone(), wheel.name.place.shown());
    let glob = match &wheel.from {
        WheelSource::Index(pin) => {
            let index = Some(pin.as_str().to_owned());
            return resolved.wheels.push(TakenWheel { name, files: Vec::new(), index, rule });
        }
        WheelSource::Files(glob) => glob,
    };
    let files = sources.and_then(|s| s.wheels.get(&name)).cloned().unwrap_or_default();
    match (&wheel.optional, files.is_empty()) {
        (_, false) => resolved.wheels.push(TakenWheel { name, files, index: None, rule }),
        (Some(reason), true) => {
            resolved.absent.entry(reason.clone()).or_default().push(format!("`{name}`"));
        }
        (None, true) => {
            let problem = Problem::error(
                Code::MissingSource,
                format!("there is no wheel `{name}` among the sources"),
            );
            let problem = problem.label(&glob.place, "no file below --sources matches this");
            resolved.problems.push(
                problem.help("correct the path, or say with optional=\"…\" why there can be none"),
            );
        }
    }
}

fn build(
    manifest: &Manifest,
    project: &PythonProject,
    sources: &Sources,
    has_devel: bool,
    resolved: &mut Resolved,
) {
    if !sources.projects.contains(&project.name.value) {
        return missing(project, resolved);
    }
    let devel = project.settings().any(|setting| setting.wants(Filling::Devel));
    if devel && !has_devel {
        let problem = Problem::error(
            Code::NotBuiltInMode,
            format!(
                "project `{}` is given the tree of a devel package, and none is made",
                project.name.value
            ),
        );
        let problem = problem.label(&project.name.place, "`{devel}` stands in it");
        resolved
            .problems
            .push(problem.help("declare a package of kind devel and a selector that are built in this mode, or write another path"));
    }
    resolved.projects.push(ProjectBuild {
        name: project.name.value.clone(),
        source: project.source.value.clone(),
        subdirectory: project.subdirectory.clone(),
        after: before(manifest, project),
        run: project
            .run
            .iter()
            .map(|command| command.iter().map(ToString::to_string).collect())
            .collect(),
        build_requires: project.build_requires.iter().map(|r| r.as_str().to_owned()).collect(),
        environment: environment(project),
        pass: project.pass.clone(),
        config_settings: config_settings(project),
        isolated: project.isolated,
        devel,
        rule: project.name.place.shown(),
    });
}

/// One note for all that is optional and not there.
fn absent(by_reason: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let groups: Vec<String> = by_reason
        .iter()
        .map(|(reason, names)| format!("{} ({reason})", names.join(", ")))
        .collect();
    (!groups.is_empty())
        .then(|| format!("left out, since they are not among the sources: {}", groups.join("; ")))
}

fn missing(project: &PythonProject, resolved: &mut Resolved) {
    let (name, directory) = (&project.name.value, project.directory());
    if let Some(reason) = &project.optional {
        return resolved.absent.entry(reason.clone()).or_default().push(format!("`{name}`"));
    }
    let problem =
        Problem::error(Code::MissingSource, format!("there is no source of project `{name}`"));
    let label = format!("no pyproject.toml or setup.py is in `{directory}` below --sources");
    resolved.problems.push(
        problem
            .label(&project.source.place, label)
            .help("check it out there, or say with optional=\"…\" why it can be absent"),
    );
}

fn environment(project: &PythonProject) -> BTreeMap<String, String> {
    let set =
        project.environment.iter().map(|(name, value)| (name.value.clone(), value.to_string()));
    set.chain(project.libraries.iter().map(|l| (l.variable.value.clone(), l.value.clone())))
        .collect()
}

fn config_settings(project: &PythonProject) -> BTreeMap<String, Vec<String>> {
    let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in &project.config_settings {
        settings.entry(key.value.clone()).or_default().push(value.to_string());
    }
    settings
}

/// Everything that comes before a project, by way of others too, in the order of names.
fn before(manifest: &Manifest, project: &PythonProject) -> Vec<PackageName> {
    let mut known: BTreeSet<PackageName> = BTreeSet::new();
    let mut next: Vec<&PythonProject> = vec![project];
    while let Some(project) = next.pop() {
        for name in &project.after {
            if known.insert(name.value.clone()) {
                next.extend(manifest.python.projects.iter().find(|p| p.name.value == name.value));
            }
        }
    }
    known.into_iter().collect()
}

/// Each project behind those that it is built after, otherwise as in the file. The manifest has no circles.
fn in_order(projects: &[PythonProject]) -> Vec<&PythonProject> {
    fn place<'p>(
        project: &'p PythonProject,
        projects: &'p [PythonProject],
        order: &mut Vec<&'p PythonProject>,
    ) {
        if order.iter().any(|other| other.name.value == project.name.value) {
            return;
        }
        let before = projects
            .iter()
            .filter(|other| project.after.iter().any(|name| name.value == other.name.value));
        before.for_each(|other| place(other, projects, order));
        order.push(project);
    }
    let mut order = Vec::new();
    for project in projects {
        place(project, projects, &mut order);
    }
    order
}

/// The first devel package with what is installed beside it: all that is for no particular ISA.
fn devel(all: &[ResolvedDist<'_>], version: &Version) -> Option<DevelTree> {
    let devel = all.iter().find(|i| i.package.kind == PackageKind::Devel)?;
    let beside = |i: &&ResolvedDist<'_>| {
        i.directory == devel.directory || i.package.kind == PackageKind::Runtime
    };
    let selector = all.iter().filter(beside).find(|i| i.package.kind == PackageKind::Selector)?;
    let wanted =
        |i: &&ResolvedDist<'_>| *i.variant.per() != Per::Isa && devel.relies_on(i) && beside(i);
    let mut install: Vec<String> =
        all.iter().filter(wanted).map(|i| format!("{}=={version}", i.name)).collect();
    install.dedup();
    Some(DevelTree { directory: devel.directory.clone(), install, module: selector.module.clone() })
}
