//! `python-project`, `native-project` and `wheel`, and what they share.

use super::text::{Device, LibrarySelection, Variable};
use super::{Block, Context, Node, Once, run, split};
use crate::reader::Reason;
use crate::{
    Checkout, Cmake, Command, EveryProject, Glob, Libraries, Native, Need, Pin, ProjectSource,
    PythonVersion, PythonVersionError, ReadyWheel, Requirement, RequirementError, Selection,
    Setting, SourceProject, SplitRule, Trial, WheelSource,
};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;

/// What a branch can have of a version.
const VERSION_PARTS: [&str; 3] = ["major", "minor", "patch"];

/// Reads one `python-project`.
pub(super) fn project<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<SourceProject> {
    let name = node.argument::<PackageName>("a name");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let mut lines = node.block();
    let mut given = given(&mut lines, context);
    given.libraries = lines.at_most_once("bindings", libraries);
    let config_settings = lines.every("config-setting", |n| pair::<String>(n, "a key"));
    let isolated = lines.at_most_once("no-isolation", |_| Some(())).is_none();
    let repair = lines.at_most_once("repair", |_| Some(())).is_some();
    let pythons: Vec<Spanned<PythonVersion>> = lines
        .at_most_once("python", |n| Some(n.at_least_one::<PythonVersion>("a version")))
        .unwrap_or_default();
    let tests = trial(&mut lines, ["test", "test-requires"]);
    let docs = trial(&mut lines, ["docs", "docs-requires"]);
    lines.finish();
    given.check(context);
    let once = Once::default();
    for version in &pythons {
        let place = &version.place;
        once.give(context.faults, ("python", version.as_str()), Condition::default(), place);
    }
    if let Some(version) = pythons.first().filter(|_| !isolated) {
        let message = "a project without isolation is built for one Python".to_owned();
        let problem = Problem::error(Code::MisplacedNode, message)
            .label(&version.place, "it is that of the Python that builds");
        node.report(problem.help("remove this line, or `no-isolation`"));
    }
    let project = given.project(name?, optional);
    Some(SourceProject { config_settings, pythons, isolated, repair, tests, docs, ..project })
}

/// Reads one `native-project`.
pub(super) fn native<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<SourceProject> {
    let name = node.argument::<PackageName>("a name");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let mut lines = node.block();
    let given = given(&mut lines, context);
    let cmake = lines.at_most_once("cmake", |n| {
        let preset = n.property::<Setting>("preset");
        Some(Cmake { preset, arguments: n.arguments::<Setting>() })
    });
    lines.finish();
    given.check(context);
    if cmake.is_none() && given.run.is_empty() {
        let title = node.title();
        node.fault(
            format!("`{title}` lacks `cmake` or `run`"),
            "say how it is built and installed into `{prefix}`",
        );
    }
    let project = given.project(name?, optional);
    Some(SourceProject { native: Some(Native { cmake }), ..project })
}

/// The lines that all projects can have.
struct Given {
    sources: Vec<ProjectSource>,
    needs: Vec<Need>,
    include_ignored: Vec<Spanned<Glob>>,
    after: Vec<Spanned<PackageName>>,
    run: Vec<Command>,
    build_requires: Vec<Spanned<Requirement>>,
    environment: Vec<(Spanned<String>, Spanned<Setting>)>,
    libraries: Option<Libraries>,
    pass: Vec<Spanned<Variable>>,
    network: bool,
}

fn given(lines: &mut Block<'_>, context: &Context<'_>) -> Given {
    Given {
        sources: lines.at_least_once("source", source),
        after: lines
            .every("after", |n| Some(n.at_least_one::<PackageName>("a project or a wheel")))
            .concat(),
        needs: lines.every("needs", |n| {
            let help = n.property::<String>("help").map(|help| help.value);
            let files = n.at_least_one::<RelPath>("a file");
            Some(Need { files: files.into_iter().map(|file| file.value).collect(), help })
        }),
        include_ignored: lines
            .every("include-ignored", |n| Some(n.at_least_one::<Glob>("a file")))
            .concat(),
        run: lines.every("run", |n| run::run(n, context)),
        build_requires: lines
            .every("build-requires", |n| Some(n.at_least_one::<Requirement>("a requirement")))
            .concat(),
        environment: environment(lines),
        libraries: None,
        pass: pass(lines),
        network: lines.at_most_once("network", |_| Some(())).is_some(),
    }
}

fn environment(lines: &mut Block<'_>) -> Vec<(Spanned<String>, Spanned<Setting>)> {
    let pairs = lines.every("env", |n| pair::<Variable>(n, "a variable"));
    pairs.into_iter().map(|(key, value)| (Spanned::new(key.value.0, key.place), value)).collect()
}

fn pass(lines: &mut Block<'_>) -> Vec<Spanned<Variable>> {
    lines
        .every("pass", |n| Some(n.at_least_one::<Variable>("a variable")))
        .into_iter()
        .flatten()
        .collect()
}

impl Given {
    /// Reports what is said twice.
    fn check(&self, context: &Context<'_>) {
        let once = Once::default();
        let set = self.environment.iter().map(|(key, _)| key);
        let set = set.chain(self.libraries.as_ref().map(|l| &l.variable));
        let variables = set
            .map(|v| (v.as_str(), &v.place))
            .chain(self.pass.iter().map(|v| (v.0.as_str(), &v.place)));
        for (name, place) in variables {
            once.give(context.faults, ("environment variable", name), Condition::default(), place);
        }
        for name in &self.after {
            once.give(context.faults, ("after", name.as_str()), Condition::default(), &name.place);
        }
    }

    /// A project, for its other lines to be checked even where its `source` cannot be read.
    fn project(self, name: Spanned<PackageName>, optional: Option<String>) -> SourceProject {
        SourceProject {
            name,
            sources: self.sources,
            needs: self.needs,
            include_ignored: self.include_ignored,
            after: self.after,
            run: self.run,
            build_requires: self.build_requires.into_iter().map(|r| r.value).collect(),
            environment: self.environment,
            libraries: self.libraries,
            pass: self.pass.into_iter().map(|v| v.value.0).collect(),
            config_settings: Vec::new(),
            pythons: Vec::new(),
            isolated: true,
            repair: false,
            network: self.network,
            optional,
            native: None,
            tests: Trial::default(),
            docs: Trial::default(),
        }
    }
}

/// The lines of a trial: its commands, and what these require.
fn trial(lines: &mut Block<'_>, [command, requires]: [&'static str; 2]) -> Trial {
    let commands = lines.every(command, |n| {
        let if_there = n.property::<RelPath>("if").map(|file| file.value);
        let needs = if command == "test" { n.property::<Device>("needs") } else { None };
        let words = n.at_least_one::<Setting>("a program");
        Some(Command { words, script: None, if_there, needs: needs.map(|device| device.value.0) })
    });
    let requires =
        lines.every(requires, |n| Some(n.at_least_one::<Requirement>("a requirement"))).concat();
    Trial { requires: requires.into_iter().map(|r| r.value).collect(), commands }
}

fn source(node: &mut Node<'_>) -> Option<ProjectSource> {
    let checkout = node.argument::<RelPath>("a directory");
    let subdirectory = node.property::<RelPath>("subdirectory").map(|s| s.value);
    Some(ProjectSource { checkout: checkout?, subdirectory })
}

/// Reads one `source` at the top of the file.
pub(super) fn checkout(node: &mut Node<'_>) -> Option<Checkout> {
    let directory = node.argument::<RelPath>("a directory");
    let git = node.required::<String>("git");
    let branch = node.property::<String>("branch");
    let history = node.flag("history");
    if let Some(branch) = &branch {
        let words = branch.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or(rest));
        if let Some(word) = words.into_iter().find(|word| !VERSION_PARTS.contains(word)) {
            let message = format!("`{}` has an unknown placeholder `{{{word}}}`", branch.value);
            let problem = Problem::error(Code::InvalidText, message)
                .label(&branch.place, "nothing fills this")
                .help("placeholders are `{major}`, `{minor}` and `{patch}`");
            node.report(problem);
        }
    }
    Some(Checkout { directory: directory?, git: git?.value, branch, history })
}

/// Reads one `variable`.
pub(super) fn variable(node: &mut Node<'_>) -> Option<(Spanned<PackageName>, Spanned<Setting>)> {
    pair::<PackageName>(node, "a name")
}

/// Reads `every-project`.
pub(super) fn every_project(node: &mut Node<'_>) -> EveryProject {
    let mut lines = node.block();
    let every = EveryProject {
        environment: environment(&mut lines),
        pass: pass(&mut lines).into_iter().map(|v| v.value.0).collect(),
    };
    lines.finish();
    every
}

fn pair<K: super::FromText>(
    node: &mut Node<'_>,
    what: &str,
) -> Option<(Spanned<K>, Spanned<Setting>)> {
    let key = node.argument::<K>(what);
    let value = node.argument::<Setting>("a value");
    Some((key?, value?))
}

/// The property `among`; one that cannot be read is reported.
fn among(node: &mut Node<'_>) -> Option<Spanned<Glob>> {
    let glob = node.property::<Glob>("among")?;
    let last = glob.as_str().rsplit('/').next().unwrap_or_default();
    if last.matches('*').count() == 1 && glob.as_str().matches('*').count() == 1 {
        return Some(glob);
    }
    let message = format!("`{}` does not have one `*` in its last segment", glob.as_str());
    let problem = Problem::error(Code::InvalidText, message)
        .label(&glob.place, "the files of libraries")
        .help("`*` stands for the name of a library: `python/c*.pyx`");
    node.report(problem);
    None
}

fn libraries(node: &mut Node<'_>) -> Option<Libraries> {
    let names = node.at_least_one::<LibrarySelection>("a library");
    let variable = node.required::<Variable>("env");
    let among = among(node);
    let variable = variable?;
    if let Some(late) = names.iter().skip(1).find(|name| name.value.0.starts_with('^')) {
        let problem =
            Problem::error(Code::InvalidText, "`^` in the middle of a selection of libraries");
        node.report(
            problem
                .label(&late.place, "it can stand before the first only")
                .help("with `^` before the first, all but these are meant"),
        );
    }
    let text = names.into_iter().map(|name| name.value.0).collect::<Vec<_>>().join(",");
    let variable = Spanned::new(variable.value.0, variable.place);
    Some(Libraries { variable, selection: Selection::parse(&text), among })
}

/// What one `wheel` says.
pub(super) enum Wheel {
    /// It is taken as it is.
    Ready(ReadyWheel),
    /// How it is split.
    Split(SplitRule),
}

/// Reads one `wheel`.
pub(super) fn wheel<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<Wheel> {
    let name = node.argument::<PackageName>("a name");
    let (has_path, has_index) = (node.has("path"), node.has("index"));
    let (path, index) = (node.property::<Glob>("path"), node.property::<Pin>("index"));
    let optional = node.property::<String>("optional").map(|o| o.value);
    if let Some(lines) = split::lines(node.block(), context) {
        return lines.rule(node, name, has_path || has_index).map(Wheel::Split);
    }
    if (has_path && has_index) || (path.is_none() && index.is_none()) {
        let title = node.title();
        if has_path && has_index {
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
    Some(Wheel::Ready(ReadyWheel { name, from, optional }))
}

fn check_pin(node: &Node<'_>, name: &Spanned<PackageName>, index: &Spanned<Pin>) {
    let pinned = index.name().parse::<base::names::DistName>().map(|name| name.normalized());
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

impl Reason for PythonVersionError {
    fn message(&self) -> String {
        self.to_string()
    }

    fn label(&self) -> String {
        "write it like `3.12`: the interpreter is `python3.12`".to_owned()
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
