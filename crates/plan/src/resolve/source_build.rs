use std::collections::{BTreeMap, BTreeSet};

use super::resolved_dist::ResolvedDist;
use super::targets::Targets;
use crate::{
    DevelTree, NativeBuild, PrefetchedWheel, ProjectBuild, Request, RunCommand, RunScript, Sources,
    TakenWheel, Trial,
};
use base::names::{PackageName, Requirement};
use base::source::{Code, Problem, Problems, Spanned};
use base::version::Version;
use manifest::{
    Filling, Manifest, Prefetch, PrefetchSource, ReadyWheel, SourceProject, WheelSource, setting,
};

mod devel_tree;
mod prefetch;
mod selection;
mod variables;

#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub projects: Vec<ProjectBuild>,
    pub wheels: Vec<TakenWheel>,
    pub prefetched: Vec<PrefetchedWheel>,
    pub devel: Option<DevelTree>,
    pub notes: Vec<String>,
    absent: BTreeMap<String, Vec<String>>,
    pub problems: Problems,
}

pub(super) fn names(manifest: &Manifest) -> impl Iterator<Item = &PackageName> {
    let python = &manifest.python;
    python.projects.iter().map(|p| &p.name.value).chain(python.wheels.iter().map(|w| &w.name.value))
}

/// Tree that `{devel}` stands for.
pub(super) enum Tree {
    Package(Option<DevelTree>),
    Installed,
    /// The command line names neither artifacts nor an installed tree.
    None,
}

impl Tree {
    pub fn of_packages(all: &[ResolvedDist<'_>], version: &Version) -> Self {
        Self::Package(devel_tree::devel_tree(all, version))
    }

    fn exists(&self) -> bool {
        !matches!(self, Self::None | Self::Package(None))
    }
}

pub(super) fn resolve(
    manifest: &Manifest,
    request: &Request,
    tree: Tree,
    targets: &Targets,
) -> Resolved {
    let version = &targets.version;
    let mut resolved = Resolved::default();
    let variables = variables::Variables::new(manifest, request, targets, &mut resolved.problems);
    let is_requested = |name: &PackageName| request.wants(name);
    let mut unread: Vec<&PackageName> = Vec::new();
    for wheel in manifest.python.wheels.iter().filter(|w| is_requested(&w.name)) {
        match (&wheel.from, &request.sources) {
            (WheelSource::Files(_), None) => unread.push(&wheel.name),
            (_, sources) => take(wheel, sources.as_ref(), &mut resolved),
        }
    }
    for project in
        dependencies_first(&manifest.python.projects).into_iter().filter(|p| is_requested(&p.name))
    {
        match &request.sources {
            None => unread.push(&project.name),
            Some(sources) => {
                let context = Context {
                    manifest,
                    sources,
                    version,
                    variables: &variables,
                    request,
                    tree: &tree,
                };
                build(&context, project, &mut resolved);
            }
        }
    }
    if let Some(sources) = &request.sources {
        prefetch::resolve(&manifest.python.prefetched, sources, &variables, &mut resolved);
    }
    if let Tree::Package(devel) = tree {
        resolved.devel = devel.filter(|_| resolved.projects.iter().any(|p| p.devel));
    }
    without_sources(request, &unread, &mut resolved);
    resolved.problems.extend(selection::check_requested(manifest, request));
    resolved.notes.extend(absent(&resolved.absent));
    resolved
}

/// Problem of a project that uses `{devel}`.
fn without_tree(tree: &Tree, project: &SourceProject) -> Problem {
    let (reason, help) = match tree {
        Tree::None => (
            "uses a devel tree, but none is named",
            "give the options of an installation or of artifacts: see `rockpack build --help`",
        ),
        Tree::Package(_) | Tree::Installed => (
            "uses the tree of a devel package, but none is made",
            "declare a devel package and a selector for this mode, or write another path",
        ),
    };
    let text = format!("project `{}` {reason}", project.name.value);
    let problem = Problem::error(Code::NotBuiltInMode, text);
    problem.label(&project.name.place, "uses `{devel}`").help(help)
}

const NAMED: usize = 3;

fn without_sources(request: &Request, unread: &[&PackageName], resolved: &mut Resolved) {
    let names: Vec<String> = unread.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return;
    }
    if request.only.is_empty() {
        let (shown, more) = names.split_at(names.len().min(NAMED));
        let more = match more.len() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let names = shown.join(", ");
        resolved.notes.push(format!("left out without --sources: {names}{more}"));
    } else {
        let names = names.join(", ");
        let problem = Problem::usage(
            Code::MissingSource,
            format!("--only: {names} cannot be made without --sources"),
        );
        resolved.problems.push(problem.help("give the directory of the checkouts: --sources DIR"));
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
                format!("wheel `{name}` is missing in the sources"),
            );
            let problem = problem.label(&glob.place, "no file below --sources matches");
            resolved
                .problems
                .push(problem.help("correct the path, or give a reason: optional=\"…\""));
        }
    }
}

struct Context<'a> {
    manifest: &'a Manifest,
    sources: &'a Sources,
    version: &'a Version,
    variables: &'a variables::Variables<'a>,
    request: &'a Request,
    tree: &'a Tree,
}

fn build(context: &Context<'_>, project: &SourceProject, resolved: &mut Resolved) {
    let index = context.sources.projects.get(&project.name.value);
    let Some(source) = index.and_then(|&index| project.sources.get(index)) else {
        return missing(context, project, resolved);
    };
    let settings = settings(context, project, resolved);
    let wants_devel = |text: &str| setting::places(text).contains(&Filling::Devel);
    let devel = settings.texts().any(wants_devel);
    if devel && !context.tree.exists() {
        resolved.problems.push(without_tree(context.tree, project));
    }
    let checkout = context.manifest.python.checkout(&source.checkout);
    resolved.projects.push(ProjectBuild {
        name: project.name.value.clone(),
        source: source.checkout.value.clone(),
        subdirectory: source.subdirectory.clone(),
        needs: project.needs.iter().flat_map(|need| need.files.clone()).collect(),
        include_ignored: project.include_ignored.iter().map(|g| g.as_str().to_owned()).collect(),
        after: dependencies(context, project),
        run: settings.run,
        native: settings.native,
        branch: checkout
            .filter(|checkout| checkout.history && *context.version != Version::unknown())
            .and_then(|checkout| checkout.branch_of(context.version)),
        build_requires: project.build_requires.iter().map(|r| r.as_str().to_owned()).collect(),
        constraints: constraints(context, project),
        environment: settings.environment,
        pass: settings.pass,
        config_settings: settings.config_settings,
        pythons: project.pythons.iter().map(|v| v.as_str().to_owned()).collect(),
        isolated: project.isolated,
        repair: project.repair,
        at_most: project.at_most.as_ref().map(|limit| limit.level.value.clone()),
        network: project.network,
        devel,
        tests: trial(context, &project.tests),
        docs: trial(context, &project.docs),
        rule: project.name.place.shown(),
    });
}

fn constraints(context: &Context<'_>, project: &SourceProject) -> Vec<String> {
    let every = &context.manifest.python.every.constraint;
    every.iter().chain(&project.constraints).map(|r| r.as_str().to_owned()).collect()
}

fn trial(context: &Context<'_>, trial: &manifest::Trial) -> Option<Trial> {
    let command = |command: &manifest::Command| RunCommand {
        words: command.words.iter().map(|word| context.variables.fill(word.as_str())).collect(),
        script: None,
        if_there: command.if_there.clone(),
        needs: command.needs.clone(),
    };
    let commands: Vec<RunCommand> = trial.commands.iter().map(command).collect();
    let requires = trial.requires.iter().map(|r| r.as_str().to_owned());
    let requires = requires.filter(|text| context.is_offered(text)).collect();
    (!commands.is_empty()).then_some(Trial { requires, commands })
}

impl Context<'_> {
    /// An installed tree replaces the packages of artifacts.
    fn is_offered(&self, requirement: &str) -> bool {
        let Ok(required) = requirement.parse::<Requirement>() else { return true };
        let names = || self.manifest.distribution_names();
        !matches!(self.tree, Tree::Installed)
            || !names().iter().any(|(name, _)| *name == required.name)
    }
}

struct FilledSettings {
    run: Vec<RunCommand>,
    native: Option<NativeBuild>,
    environment: BTreeMap<String, String>,
    pass: Vec<String>,
    config_settings: BTreeMap<String, Vec<String>>,
}

impl FilledSettings {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let cmake = self.native.iter().filter_map(|native| native.cmake.as_ref()).flatten();
        let run = self.run.iter().flat_map(|command| &command.words);
        let values = self.environment.values().chain(self.config_settings.values().flatten());
        run.chain(values).chain(cmake).map(String::as_str)
    }
}

fn settings(
    context: &Context<'_>,
    project: &SourceProject,
    resolved: &mut Resolved,
) -> FilledSettings {
    let fill = |text: &str| context.variables.fill(text);
    let run = project.run.iter().map(|command| RunCommand {
        words: command.words.iter().map(|word| fill(word.as_str())).collect(),
        script: command
            .script
            .as_ref()
            .map(|script| RunScript { path: script.path.clone(), text: script.text.clone() }),
        if_there: command.if_there.clone(),
        needs: None,
    });
    let native = project.native.as_ref().map(|native| NativeBuild {
        cmake: native.cmake.as_ref().map(|cmake| {
            let preset = cmake.preset.iter().map(|p| format!("--preset={}", fill(p.as_str())));
            preset.chain(cmake.arguments.iter().map(|a| fill(a.as_str()))).collect()
        }),
    });
    let mut config_settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in &project.config_settings {
        config_settings.entry(key.value.clone()).or_default().push(fill(value.as_str()));
    }
    let mut settings = FilledSettings {
        run: run.collect(),
        native,
        environment: BTreeMap::new(),
        pass: project.pass.clone(),
        config_settings,
    };
    environment(context, project, &mut settings);
    if let Some(libraries) = &project.libraries {
        let chosen = selection::selected_libraries(context, project, libraries, resolved);
        settings.environment.insert(libraries.variable.value.clone(), chosen);
    }
    unfilled(context, project, &settings, resolved);
    settings
}

/// The project's own variables override `every-project`, and `without-env` removes them.
/// The prefix of an omitted project comes from the caller.
fn environment(context: &Context<'_>, project: &SourceProject, settings: &mut FilledSettings) {
    let every = &context.manifest.python.every;
    let is_own = |name: &str| {
        project.environment.iter().any(|(other, _)| other.as_str() == name)
            || project.pass.iter().any(|other| other == name)
            || project.without_env.iter().any(|other| other.as_str() == name)
            || project.libraries.iter().any(|l| l.variable.as_str() == name)
    };
    let shared = every.environment.iter().filter(|(name, _)| !is_own(name.as_str()));
    for (name, value) in project.environment.iter().chain(shared) {
        if value.places().iter().any(|place| is_left_out(context, place)) {
            settings.pass.push(name.value.clone());
            continue;
        }
        let value = context.variables.fill(value.as_str());
        let is_own = project.environment.iter().any(|(other, _)| other.value == name.value);
        // Without ISAs, only projects that name some need any.
        if is_own || !setting::places(&value).iter().any(Filling::is_of_isas) {
            settings.environment.insert(name.value.clone(), value);
        }
    }
    settings.pass.extend(every.pass.iter().filter(|name| !is_own(name)).cloned());
}

fn is_left_out(context: &Context<'_>, place: &Filling) -> bool {
    let Filling::PrefixOf(name) = place else { return false };
    // The prefix can exist from an earlier build.
    context.request.wants(name) && !context.sources.projects.contains_key(name)
}

fn unfilled(
    context: &Context<'_>,
    project: &SourceProject,
    settings: &FilledSettings,
    resolved: &mut Resolved,
) {
    let places: BTreeSet<Filling> = settings.texts().flat_map(setting::places).collect();
    for place in places.iter().filter(|place| place.is_of_isas()) {
        let project = ("project", &project.name);
        resolved.problems.push(without_isas(context.variables, project, place));
    }
    for place in places.iter().filter(|place| is_left_out(context, place)) {
        let name = &project.name;
        let problem = Problem::error(
            Code::MissingSource,
            format!("`{}` needs {{{}}}, but that project has no sources", name.value, place.word()),
        );
        resolved.problems.push(
            problem.label(&name.place, "uses the directory").help("check out that project too"),
        );
    }
}

fn without_isas(
    variables: &variables::Variables<'_>,
    (kind, name): (&str, &Spanned<PackageName>),
    place: &Filling,
) -> Problem {
    let built: Vec<&str> = variables.isas().collect();
    let (message, help) = match place {
        Filling::IsasOf(wave) if !built.is_empty() => (
            format!(
                "{kind} `{}` is for wavefronts of {}, which no ISA of this build has",
                name.value,
                wave.lanes()
            ),
            format!(
                "the ISAs are {}; request others with {}, or set the project's variables with \
                 --variable",
                built.join(", "),
                variables.families_option
            ),
        ),
        _ => (
            format!(
                "{kind} `{}` is for the ISAs of the build, and this build has none",
                name.value
            ),
            format!("request some: {} LIST", variables.families_option),
        ),
    };
    let label = format!("uses `{{{}}}`", place.word());
    Problem::error(Code::MissingTarget, message).label(&name.place, label).help(help)
}

fn absent(by_reason: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let groups: Vec<String> = by_reason
        .iter()
        .map(|(reason, names)| format!("{} ({reason})", names.join(", ")))
        .collect();
    (!groups.is_empty()).then(|| format!("left out, missing in the sources: {}", groups.join("; ")))
}

fn missing(context: &Context<'_>, project: &SourceProject, resolved: &mut Resolved) {
    let name = &project.name.value;
    let lacking = context.sources.lacking.get(name);
    let is_named = context.request.only.iter().any(|only| only.as_str() == name.as_str());
    if let Some(reason) = project.optional.as_ref().filter(|_| !is_named) {
        match lacking {
            Some(lines) => {
                resolved.notes.push(format!("left out: `{name}`, {}", lines.join("; ")));
            }
            None => resolved.absent.entry(reason.clone()).or_default().push(format!("`{name}`")),
        }
        return;
    }
    let Some(source) = project.sources.first() else { return };
    let message = match lacking {
        Some(_) => format!("the checkout of project `{name}` is not complete"),
        None => format!("the source of project `{name}` is missing"),
    };
    let label = match lacking {
        Some(lines) => lines.join("; "),
        None if project.native.is_some() => {
            format!("no file in `{}` below --sources", source.directory())
        }
        None => {
            let directory = source.directory();
            format!("no pyproject.toml or setup.py in `{directory}` below --sources")
        }
    };
    let checkout = context.manifest.python.checkout(&source.checkout);
    let help = match checkout {
        Some(_) => {
            "clone it with `rockpack project clone`; `rockpack project list` shows its \
            address"
        }
        None => "check it out there, or give a reason: optional=\"…\"",
    };
    let problem = Problem::error(Code::MissingSource, message);
    resolved.problems.push(problem.label(&source.checkout.place, label).help(help));
}

/// Names of this project's dependencies and of their dependencies. A prefetched wheel has none: its
/// metadata lists its requirements, and `after` lines are for checkouts.
fn dependencies(context: &Context<'_>, project: &SourceProject) -> Vec<PackageName> {
    let python = &context.manifest.python;
    let is_prefetched = |name: &PackageName| {
        !context.sources.projects.contains_key(name)
            && python.prefetched.iter().any(|wheel| wheel.name.value == *name)
    };
    let mut names: BTreeSet<PackageName> = BTreeSet::new();
    let mut next: Vec<&SourceProject> = vec![project];
    while let Some(project) = next.pop() {
        for name in &project.after {
            if names.insert(name.value.clone()) && !is_prefetched(&name.value) {
                next.extend(python.projects.iter().find(|p| p.name.value == name.value));
            }
        }
    }
    names.into_iter().collect()
}

/// Sorts projects after their dependencies, otherwise in file order. The manifest has no cycles.
fn dependencies_first(projects: &[SourceProject]) -> Vec<&SourceProject> {
    fn place<'p>(
        project: &'p SourceProject,
        projects: &'p [SourceProject],
        order: &mut Vec<&'p SourceProject>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, package, runtime};

    #[test]
    fn what_is_for_no_particular_isa_is_installed_beside_the_devel_tree() {
        let takes = "artifact \"a\" \"lib\"";
        let selector =
            package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", "requires \"core\"");
        let per_isa = "\"x-devel-{isa}\" module=\"x_devel_{isa}\" per=\"isa\"";
        let packages =
            [selector, runtime("core", takes), package("devel", "devel", per_isa, takes)];
        let fixture = Fixture::new(&packages, "a_lib_generic f text f\na_lib_gfx942 g text g");
        let tree = devel_tree::devel_tree(&fixture.dists(), &fixture.targets.version).unwrap();
        assert_eq!(tree.install, ["x==1.0", "x-core==1.0"]);
    }

    #[test]
    fn a_project_is_left_out_where_it_has_no_sources_and_no_earlier_build_made_it() {
        let fixture =
            Fixture::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
        let cases: [(&[&str], &[&str], bool); 5] = [
            (&[], &["a"], false),
            (&[], &["b"], true),
            (&["b"], &["b"], false),
            (&["a"], &["b"], true),
            (&["a"], &["a"], false),
        ];
        for (only, there, expected) in cases {
            let request = Request {
                only: only.iter().map(|name| name.parse().unwrap()).collect(),
                ..Request::default()
            };
            let projects = there.iter().map(|name| (name.parse().unwrap(), 0)).collect();
            let sources = Sources { projects, ..Sources::default() };
            let mut problems = Problems::new();
            let Fixture { manifest, targets, .. } = &fixture;
            let variables = variables::Variables::new(manifest, &request, targets, &mut problems);
            let version = &targets.version;
            let (sources, variables, request) = (&sources, &variables, &request);
            let tree = &Tree::Package(None);
            let context = Context { manifest, sources, version, variables, request, tree };
            let prefix = Filling::PrefixOf("a".parse().unwrap());
            assert_eq!(is_left_out(&context, &prefix), expected, "{only:?} {there:?}");
            assert!(!is_left_out(&context, &Filling::Devel));
        }
    }
}
