//! `python-project`, `native-project` and `every-project`.

use super::lines::{
    Command, ConfigSetting, Docs, Env, Need, Pair, ProjectSource, Run, Test, Trial,
};
use super::{PythonVersion, Selection};
use crate::Glob;
use crate::line::{Scope, inner};
use crate::reader::Node;
use crate::requirement::Requirement;
use crate::setting::{Filling, Setting};
use crate::text::{LibrarySelection, TagLevel, Variable};
use base::names::PackageName;
use base::source::{Code, Place, Problem, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// A `python-project`, built through PEP 517, or a `native-project`, installed into a directory.
#[derive(Debug, Clone)]
pub struct SourceProject {
    /// The distribution, as indexes compare it (PEP 503).
    pub name: Spanned<PackageName>,
    /// Directories below the root of all sources; the first that exists counts.
    pub sources: Vec<ProjectSource>,
    /// Files that the checkout needs.
    pub needs: Vec<Need>,
    /// Built files that git ignores or lacks.
    pub include_ignored: Vec<Spanned<Glob>>,
    /// Projects that are built and installed before.
    pub after: Vec<Spanned<PackageName>>,
    /// Commands that prepare the checkout.
    pub run: Vec<Command>,
    /// Build requirements that pyproject.toml lacks (PEP 508).
    pub build_requires: Vec<Requirement>,
    /// Limits of requirements' versions (PEP 508).
    pub constraints: Vec<Requirement>,
    /// Environment variables.
    pub environment: Vec<Pair<String>>,
    /// Selection of libraries, an environment variable too.
    pub libraries: Option<Libraries>,
    /// Variables of the caller that the build gets.
    pub pass: Vec<String>,
    /// Variables of `every-project` that it does not get.
    pub without_env: Vec<Spanned<String>>,
    /// Settings for the build backend (PEP 517).
    pub config_settings: Vec<Pair<String>>,
    /// Versions of Python, a wheel each; if empty, the Python that builds.
    pub pythons: Vec<Spanned<PythonVersion>>,
    /// Built in a separate environment.
    pub isolated: bool,
    /// The wheel gets the libraries that it needs of native projects.
    pub repair: bool,
    /// Limit of the wheel's platform tag.
    pub at_most: Option<AtMost>,
    /// Build, tests and documentation may open connections.
    pub network: bool,
    /// Reason why its sources can be absent.
    pub optional: Option<String>,
    /// Installation of a native project.
    pub native: Option<Native>,
    /// `test` lines with `test-requires`.
    pub tests: Trial,
    /// `docs` lines with `docs-requires`.
    pub docs: Trial,
}

/// Environment of commands and builds.
#[derive(Debug, Clone, Default, Line)]
pub struct EveryProject {
    /// Environment variables.
    #[child(of = Env)]
    pub environment: Vec<Pair<String>>,
    /// Limits the versions of requirements of builds, tests and documentation, also indirect ones;
    /// requires nothing itself.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A name with versions (PEP 508).",
        example = r#"constraint "cython<3.1" "numpy==2.1.*""#
    )]
    pub constraint: Vec<Requirement>,
    /// Passes variables of rockpack's environment to the build, which has few others.
    #[leaf(
        "VARIABLE",
        "a variable",
        "A variable; where it is not set, nothing is passed.",
        via = Variable,
        once = "environment variable",
        example = r#"pass "EXAMPLE_LICENSE_SERVER""#
    )]
    pub pass: Vec<String>,
}

/// Holds lines for all projects; a project's own ones win.
#[derive(Line)]
#[line(
    "every-project",
    within = inner,
    makes = EveryProject,
    then = EveryProjectLine::variables,
    example = r#"every-project {
    env "EXAMPLE_TARGETS" "{isas}"
}"#
)]
pub(crate) struct EveryProjectLine {
    /// Variables of every project.
    #[flat]
    variables: EveryProject,
}

impl EveryProjectLine {
    fn variables(self, _: &Node<'_>, _: &Scope<'_, '_>) -> EveryProject {
        self.variables
    }
}

#[derive(Line)]
struct Shared {
    #[child(times = AtLeastOnce)]
    sources: Vec<ProjectSource>,
    #[child]
    needs: Vec<Need>,
    /// Names files of the checkout that are built though git ignores them, or that are expected in
    /// addition to the commit. The copy that is built has the files of the commit, new files that
    /// git does not ignore, and the files of `needs` and of this line. Files of these two lines do
    /// not make a checkout dirty; the provenance statement has their hashes.
    #[leaf(
        "GLOB",
        "a file",
        "Files or directories below the checkout; a directory includes all its files.",
        example = r#"include-ignored "generated" "src/*.gen.c""#
    )]
    include_ignored: Vec<Spanned<Glob>>,
    /// Builds it after these projects. Their wheels are installed if it or its build requires them.
    #[leaf(
        "NAME",
        "a project or a wheel",
        "Another `python-project`, a `wheel` or a `prefetch`. Packages of artifacts are always \
         built first.",
        once,
        example = r#"after "example-runtime""#
    )]
    after: Vec<Spanned<PackageName>>,
    #[child(of = Run)]
    run: Vec<Command>,
    /// Adds requirements of the build that pyproject.toml lacks.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A requirement as pip takes it (PEP 508). Wheels that this build already made satisfy it first.",
        example = r#"build-requires "cython>=3""#
    )]
    build_requires: Vec<Requirement>,
    #[flat]
    given: EveryProject,
    /// Leaves out variables that `every-project` sets or passes.
    #[leaf(
        "VARIABLE",
        "a variable",
        "A variable of an `env` or `pass` line in `every-project`.",
        via = Variable,
        once = "environment variable",
        example = r#"without-env "EXAMPLE_TARGETS""#
    )]
    without_env: Vec<Spanned<String>>,
    /// Lets its commands, build, tests and documentation open and accept connections. Build
    /// requirements are fetched before, also without this line.
    #[leaf]
    network: bool,
}

impl Shared {
    fn project(self, name: Spanned<PackageName>, optional: Option<String>) -> SourceProject {
        SourceProject {
            name,
            sources: self.sources,
            needs: self.needs,
            include_ignored: self.include_ignored,
            after: self.after,
            run: self.run,
            build_requires: self.build_requires,
            constraints: self.given.constraint,
            environment: self.given.environment,
            libraries: None,
            pass: self.given.pass,
            without_env: self.without_env,
            config_settings: Vec::new(),
            pythons: Vec::new(),
            isolated: true,
            repair: false,
            at_most: None,
            network: self.network,
            optional,
            native: None,
            tests: Trial::default(),
            docs: Trial::default(),
        }
    }
}

/// Declares a Python package built from a checkout with PEP 517's hooks. `--sources` names the
/// directory of checkouts.
#[derive(Line)]
#[line(
    "python-project",
    within = inner,
    makes = SourceProject,
    then = PythonProject::project,
    check(check_pythons(pythons, no_isolation)),
    example = r#"python-project "example-bindings" {
    source "bindings" subdirectory="python"
    after "example-runtime"
    env "EXAMPLE_PATH" "{devel}"
    bindings "^fft" "rand" env="EXAMPLE_LIBS"
}"#
)]
pub(super) struct PythonProject {
    /// The distribution, in an index's normal form (PEP 503), also for `--only` and `after`.
    #[arg("NAME", "a name")]
    name: Spanned<PackageName>,
    /// Reason why its sources may be missing; without it, an error.
    #[prop("WHY")]
    optional: Option<String>,
    #[flat]
    shared: Shared,
    #[child(of = Bindings)]
    libraries: Option<Libraries>,
    #[child(of = ConfigSetting)]
    config_settings: Vec<Pair<String>>,
    /// Builds it with the packages of the Python that builds, without a separate environment.
    #[leaf]
    no_isolation: bool,
    /// Copies the libraries of native projects that its wheel needs into the wheel, with
    /// auditwheel. Libraries in packages of artifacts, or of the installed ROCm, stay there.
    #[leaf]
    repair: bool,
    #[child]
    at_most: Option<AtMost>,
    /// Builds a wheel for each of these versions of Python, with `python3.N` on PATH; without it,
    /// for the Python that builds. A wheel that fits all is built once.
    #[leaf(
        "3.N",
        "a version",
        "A version; the interpreter needs no packages.",
        name = "python",
        times = AtMostOnce,
        once,
        example = r#"python "3.10" "3.12""#
    )]
    pythons: Vec<Spanned<PythonVersion>>,
    #[child(of = Test)]
    tests: Vec<Command>,
    /// Names requirements of the tests, installed with the wheel.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A requirement as pip takes it (PEP 508). Wheels that this build made satisfy it first.",
        example = r#"test-requires "pytest" "numpy""#
    )]
    test_requires: Vec<Requirement>,
    #[child(of = Docs)]
    docs: Vec<Command>,
    /// Names requirements of the documentation, installed with the wheel.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A requirement as pip takes it (PEP 508).",
        example = r#"docs-requires "sphinx""#
    )]
    docs_requires: Vec<Requirement>,
}

impl PythonProject {
    fn project(self, _: &Node<'_>, _: &Scope<'_, '_>) -> SourceProject {
        let project = self.shared.project(self.name, self.optional);
        SourceProject {
            libraries: self.libraries,
            config_settings: self.config_settings,
            pythons: self.pythons,
            isolated: !self.no_isolation,
            repair: self.repair,
            at_most: self.at_most,
            tests: Trial { requires: self.test_requires, commands: self.tests },
            docs: Trial { requires: self.docs_requires, commands: self.docs },
            ..project
        }
    }
}

fn check_pythons(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    pythons: &[Spanned<PythonVersion>],
    no_isolation: &[()],
) {
    if let Some(version) = pythons.first().filter(|_| !no_isolation.is_empty()) {
        let message = "a project with `no-isolation` is built for one Python only".to_owned();
        let problem = Problem::error(Code::MisplacedNode, message)
            .label(&version.place, "the Python of the build");
        node.report(problem.help("remove this line, or `no-isolation`"));
    }
}

/// Declares a library or a program that projects are built against: it is built from a checkout and
/// installed into a separate directory in DEST, which is reused while nothing changed.
#[derive(Line)]
#[line(
    "native-project",
    within = inner,
    makes = SourceProject,
    then = NativeProject::project,
    example = r#"native-project "example-graph" {
    source "graph"
    cmake "-DCMAKE_BUILD_TYPE=Release" "-DCMAKE_PREFIX_PATH={devel}"
}"#
)]
pub(super) struct NativeProject {
    /// Name for `--only`, `after` and `{prefix:NAME}`.
    #[arg("NAME", "a name")]
    name: Spanned<PackageName>,
    /// Reason why its sources may be missing; without it, an error.
    #[prop("WHY")]
    optional: Option<String>,
    #[flat]
    shared: Shared,
    #[child]
    cmake: Option<Cmake>,
}

impl NativeProject {
    fn project(self, node: &Node<'_>, _: &Scope<'_, '_>) -> SourceProject {
        if self.cmake.is_none() && self.shared.run.is_empty() {
            let message = format!("`{}` lacks `cmake` or `run`", node.title());
            node.fault(message, "add a `cmake` or `run` line that installs into `{prefix}`");
        }
        let native = Some(Native { cmake: self.cmake });
        SourceProject { native, ..self.shared.project(self.name, self.optional) }
    }
}

/// Build of a native project; without `cmake`, its commands do all.
#[derive(Debug, Clone)]
pub struct Native {
    /// `cmake "ARGUMENT" preset="NAME"`.
    pub cmake: Option<Cmake>,
}

/// Configures, builds and installs it with CMake after its `run` lines: rockpack sets source, build
/// and install directory.
#[derive(Debug, Clone, Line)]
#[line("cmake", example = r#"cmake "-DCMAKE_BUILD_TYPE=Release" "-GNinja""#)]
pub struct Cmake {
    /// Arguments for configuring, with the placeholders of `env`.
    #[arg("ARGUMENT", "an argument", many)]
    pub arguments: Vec<Spanned<Setting>>,
    /// One of the project's CMake presets.
    #[prop("NAME")]
    pub preset: Option<Spanned<Setting>>,
}

/// Limits the platform tag of the wheel: a file that needs a newer system fails the project, and the
/// error names the file and its need.
#[derive(Debug, Clone, Line)]
#[line("at-most", example = r#"at-most "manylinux_2_17""#)]
pub struct AtMost {
    /// The newest tag allowed, manylinux or musllinux without an architecture.
    #[arg("LEVEL", "a level", via = TagLevel)]
    pub level: Spanned<String>,
}

/// Libraries with bindings in a project.
#[derive(Debug, Clone)]
pub struct Libraries {
    /// Variable that the project reads.
    pub variable: Spanned<String>,
    /// The selected libraries.
    pub selection: Selection,
    /// Files of the checkout, one for each library: `*` stands for the name.
    pub among: Option<Spanned<Glob>>,
    /// Libraries that others import.
    pub imports: Vec<Imports>,
}

/// Names the libraries that a library imports: a selection of this one gets them too.
#[derive(Debug, Clone, Line)]
#[line("imports", example = r#"imports "fft" "rand""#)]
pub struct Imports {
    /// The library, `*` for all.
    #[arg("NAME", "a library", via = LibrarySelection)]
    pub importer: Spanned<String>,
    /// A library that it imports.
    #[arg("NAME", "a library", many, via = LibrarySelection)]
    pub imported: Vec<Spanned<String>>,
}

impl Libraries {
    /// Adds imported libraries to `libraries`, directly or indirectly; returns them with an importer.
    pub fn with_imports(&self, libraries: &mut Vec<String>) -> Vec<(String, String)> {
        let mut added = Vec::new();
        let mut index = 0;
        while let Some(importer) = libraries.get(index).cloned() {
            let imports = self
                .imports
                .iter()
                .filter(|imports| ["*", &*importer].contains(&imports.importer.as_str()));
            for imported in imports.flat_map(|imports| &imports.imported) {
                if !libraries.contains(&imported.value) {
                    libraries.push(imported.value.clone());
                    added.push((imported.value.clone(), importer.clone()));
                }
            }
            index += 1;
        }
        added
    }
}

/// Selects the libraries with bindings: a variable that lists them with `,` between. `--libs
/// PROJECT=LIST` selects others.
#[derive(Line)]
#[line(
    "bindings",
    makes = Libraries,
    then = Bindings::libraries,
    check(check_bindings(names, among)),
    example = r#"bindings "^fft" "rand" env="EXAMPLE_LIBS""#
)]
struct Bindings {
    /// A library; with `^` before the first, all but these.
    #[arg("NAME", "a library", via = LibrarySelection)]
    names: Vec<Spanned<String>>,
    /// The variable in which the project finds the list.
    #[prop("VARIABLE", name = "env", via = Variable)]
    variable: Spanned<String>,
    /// Files of all libraries below the checkout, with `*` for the name; a selected name without a
    /// file is an error.
    #[prop("GLOB")]
    among: Option<Spanned<Glob>>,
    #[child]
    imports: Vec<Imports>,
}

impl Bindings {
    fn libraries(self, _: &Node<'_>, scope: &Scope<'_, '_>) -> Libraries {
        let variable = self.variable;
        scope.give("environment variable", &variable, Condition::default(), &variable.place);
        let text = self.names.into_iter().map(|name| name.value).collect::<Vec<_>>().join(",");
        let selection = Selection::parse(&text);
        Libraries { variable, selection, among: self.among, imports: self.imports }
    }
}

fn check_bindings(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    names: &[Spanned<String>],
    among: Option<&Spanned<Glob>>,
) {
    if let Some(late) = names.iter().skip(1).find(|name| name.value.starts_with('^')) {
        let message = "`^` must be before the first library";
        let problem =
            Problem::error(Code::InvalidText, message).label(&late.place, "misplaced `^`");
        node.report(problem.help("`^` before the first library selects all others"));
    }
    let Some(glob) = among else { return };
    let last = glob.as_str().rsplit('/').next().unwrap_or_default();
    if last.matches('*').count() != 1 || glob.as_str().matches('*').count() != 1 {
        let message = format!("`{}` must have one `*`, in its last segment", glob.as_str());
        let problem =
            Problem::error(Code::InvalidText, message).label(&glob.place, "pattern for libraries");
        node.report(problem.help("write `*` for the name of the library: `python/c*.pyx`"));
    }
}

impl SourceProject {
    /// Returns the name of its node.
    pub fn node(&self) -> &'static str {
        if self.native.is_some() { "native-project" } else { "python-project" }
    }

    /// Returns everything that may have placeholders.
    pub fn settings(&self) -> impl Iterator<Item = &Spanned<Setting>> {
        let pairs = self.environment.iter().chain(&self.config_settings).map(|(_, value)| value);
        let cmake = self.native.iter().filter_map(|native| native.cmake.as_ref());
        let cmake = cmake.flat_map(|cmake| cmake.preset.iter().chain(&cmake.arguments));
        self.run.iter().flat_map(|command| &command.words).chain(pairs).chain(cmake)
    }

    /// Returns the native projects in its settings.
    pub fn prefixes(&self) -> impl Iterator<Item = (PackageName, &Place)> {
        self.settings().flat_map(|setting| {
            let prefix = |filling| match filling {
                Filling::PrefixOf(name) => Some((name, &setting.place)),
                _ => None,
            };
            setting.places().into_iter().filter_map(prefix)
        })
    }
}
