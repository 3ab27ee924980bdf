//! Lines of projects.

use crate::line::Scope;
use crate::package::readme::clean;
use crate::reader::Node;
use crate::requirement::Requirement;
use crate::setting::Setting;
use crate::text::{Device, Variable};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Source, Spanned};
use manifest_derive::Line;

/// Names the checkout; of several lines, the first that exists counts. A copy is built, so that the
/// checkout stays unchanged.
#[derive(Debug, Clone, Line)]
#[line("source", example = r#"source "bindings" subdirectory="python""#)]
pub struct ProjectSource {
    /// The checkout, below the directory of `--sources`.
    #[arg("DIRECTORY", "a directory")]
    pub checkout: Spanned<RelPath>,
    /// Directory of pyproject.toml or setup.py in it, unless its top.
    #[prop("DIRECTORY")]
    pub subdirectory: Option<RelPath>,
}

impl ProjectSource {
    /// Returns the project's directory, below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.checkout.value.clone(), |below| self.checkout.join(below))
    }
}

/// Names files that the checkout must have, at least one: otherwise it counts as not checked out,
/// and the missing files are named.
#[derive(Debug, Clone, Line)]
#[line(
    "needs",
    example = r#"needs "example.pyx" help="generated code is on release branches only""#
)]
pub struct Need {
    /// A file or directory, below the checkout.
    #[arg("FILE", "a file")]
    pub files: Vec<RelPath>,
    /// The way to get it.
    #[prop("HOW")]
    pub help: Option<String>,
}

/// Program with its arguments, and conditions.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// Program and arguments; of a script, its arguments.
    pub words: Vec<Spanned<Setting>>,
    /// Shell script instead of a program.
    pub script: Option<RunScript>,
    /// Runs if the checkout has this.
    pub if_there: Option<RelPath>,
    /// Runs if the machine has this device.
    pub needs: Option<String>,
}

/// Shell script.
#[derive(Debug, Clone)]
pub struct RunScript {
    /// File, relative to the manifest's directory.
    pub path: RelPath,
    /// Text, without placeholders.
    pub text: String,
}

/// Linux passes at most 128 KiB in one argument.
const MOST_OF_SCRIPT: usize = 64 << 10;

/// Runs a program or a shell script in the copy of the checkout before the build; several run in
/// order.
#[derive(Line)]
#[line(
    "run",
    makes = Command,
    then = Run::command,
    usage = r#"run "PROGRAM" "ARGUMENT" script="FILE" if="FILE""#,
    example = r#"run "{python}" "render_version.py" if="render_version.py""#
)]
pub struct Run {
    /// The program and its arguments, one by one, with the placeholders of `env`, without a shell.
    /// With `script`, the arguments of the script, `$1`, `$2` and so on.
    #[arg("PROGRAM", "a program", many, shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// A script for `sh` instead of a program: a text of at most 64 KiB, in the directory of
    /// packages.kdl or below, without placeholders.
    #[prop("FILE")]
    script: Option<Spanned<RelPath>>,
    /// Runs only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
}

impl Run {
    fn command(self, node: &Node<'_>, scope: &Scope<'_, '_>) -> Option<Command> {
        let Self { words, script, if_there } = self;
        if words.is_empty() && !node.has_property("script") && node.is_sound() {
            node.fault(format!("`{}` lacks a program", node.title()), "a program has to follow");
            return None;
        }
        let script = script.and_then(|path| RunScript::read(path, node, scope));
        Some(Command { words, script, if_there, needs: None })
    }
}

impl RunScript {
    fn read(path: Spanned<RelPath>, node: &Node<'_>, scope: &Scope<'_, '_>) -> Option<Self> {
        let context = scope.context;
        let text = |file: Source| {
            let text = short(clean(file.text())?)?;
            context.faults.add_text(file);
            Ok(text)
        };
        match (context.read)(path.place.source(), &path).and_then(text) {
            Ok(text) => Some(Self { path: path.value, text }),
            Err(reason) => {
                let message = format!("the script `{}` cannot be used", *path);
                let problem = Problem::error(Code::RunScript, message).label(&path.place, reason);
                node.report(
                    problem
                        .help("give the path of a shell script in the directory of packages.kdl"),
                );
                None
            }
        }
    }
}

fn short(text: String) -> Result<String, String> {
    if text.len() > MOST_OF_SCRIPT {
        return Err(format!("it is larger than {MOST_OF_SCRIPT} bytes, the limit for a script"));
    }
    Ok(text)
}

/// Tests the installed wheel, with `--projects tests`: in an environment with the wheel, its
/// requirements and `test-requires`, and in an empty directory. Another status than 0 fails the
/// build.
#[derive(Line)]
#[line(
    "test",
    makes = Command,
    then = Test::command,
    example = r#"test "{python}" "-m" "pytest" "{source}/tests" if="tests" needs="/dev/example""#
)]
pub struct Test {
    /// The program and its arguments, one by one. {python} is the Python of the environment,
    /// {source} a copy of the checkout, {docs} the directory of the documentation; {jobs} and
    /// {isas} as in `env`, {NAME} a `variable`. Without such ISAs, it is skipped with a note.
    #[arg("PROGRAM", "a program", shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// Runs only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
    /// Runs only if the machine has this file, such as the device of a GPU; otherwise skipped, with
    /// a note.
    #[prop("FILE", via = Device)]
    needs: Option<String>,
}

/// Makes the documentation, with `--projects docs`: in an environment with the installed wheel and
/// `docs-requires`, and in an empty directory. The content of {docs} is then moved to
/// DEST/docs/NAME.
#[derive(Line)]
#[line(
    "docs",
    makes = Command,
    then = Docs::command,
    example = r#"docs "{python}" "-m" "sphinx" "{source}/docs" "{docs}" if="docs/conf.py""#
)]
pub struct Docs {
    /// The program and its arguments, one by one. {python} is the Python of the environment,
    /// {source} a copy of the checkout, {docs} the directory of the documentation; {jobs} and
    /// {isas} as in `env`, {NAME} a `variable`. Without such ISAs, it is skipped with a note.
    #[arg("PROGRAM", "a program", shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// Runs only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
}

impl Test {
    fn command(self, _: &Node<'_>, _: &Scope<'_, '_>) -> Command {
        let Self { words, if_there, needs } = self;
        Command { words, if_there, needs, ..Command::default() }
    }
}

impl Docs {
    fn command(self, _: &Node<'_>, _: &Scope<'_, '_>) -> Command {
        let Self { words, if_there } = self;
        Command { words, if_there, ..Command::default() }
    }
}

/// Commands for an environment with the installed wheel.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// Requirements, in addition to the wheel (PEP 508).
    pub requires: Vec<Requirement>,
    /// The commands.
    pub commands: Vec<Command>,
}

/// Name and value of a variable or setting.
pub type Pair<K> = (Spanned<K>, Spanned<Setting>);

/// Sets an environment variable for commands and build.
#[derive(Line)]
#[line(
    "env",
    once = "environment variable",
    makes = Pair::<String>,
    then = Env::pair,
    example = r#"env "EXAMPLE_PATH" "{devel}""#
)]
pub(crate) struct Env {
    /// The variable.
    #[arg("VARIABLE", "a variable", via = Variable)]
    name: Spanned<String>,
    /// The value. {devel} is the expanded tree of the devel package of the same build, {source} the
    /// copy of the checkout, {python} the Python that builds, {jobs} the number of processes it may
    /// start, {isas} the ISAs of the build with `;` between, {isas:wave64} and {isas:wave32} those of
    /// one wavefront, {prefix:NAME} the directory of a `native-project` that is built before, {prefix} in a `native-project` its own directory,
    /// {NAME} a `variable`. `${NAME}` is left to shells.
    #[arg("VALUE", "a value")]
    value: Spanned<Setting>,
}

/// Passes a setting to the build backend (PEP 517), like `python -m build -C`; a repeated key makes
/// a list.
#[derive(Line)]
#[line(
    "config-setting",
    makes = Pair::<String>,
    then = ConfigSetting::pair,
    example = r#"config-setting "cmake.build-type" "Release""#
)]
pub(crate) struct ConfigSetting {
    /// The backend's name for it.
    #[arg("KEY", "a key")]
    name: Spanned<String>,
    /// Its value, with the placeholders of `env`.
    #[arg("VALUE", "a value")]
    value: Spanned<Setting>,
}

/// Names a value: {NAME} stands for it in lines of projects. `--variable NAME=VALUE` sets another.
#[derive(Line)]
#[line(
    "variable",
    makes = Pair::<PackageName>,
    then = Named::pair,
    example = r#"variable "build-type" "Release""#
)]
pub struct Named {
    /// Lower-case letters, digits and `-`.
    #[arg("NAME", "a name")]
    name: Spanned<PackageName>,
    /// Its value, with the placeholders of `env` except prefixes and variables.
    #[arg("VALUE", "a value")]
    value: Spanned<Setting>,
}

impl Env {
    fn pair(self, _: &Node<'_>, _: &Scope<'_, '_>) -> Pair<String> {
        (self.name, self.value)
    }
}

impl ConfigSetting {
    fn pair(self, _: &Node<'_>, _: &Scope<'_, '_>) -> Pair<String> {
        (self.name, self.value)
    }
}

impl Named {
    fn pair(self, _: &Node<'_>, _: &Scope<'_, '_>) -> Pair<PackageName> {
        (self.name, self.value)
    }
}

const VERSION_PARTS: [&str; 3] = ["major", "minor", "patch"];

pub(super) fn check_branch(node: &Node<'_>, _: &Scope<'_, '_>, branch: Option<&Spanned<String>>) {
    let Some(branch) = branch else { return };
    let words = branch.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or(rest));
    if let Some(word) = words.into_iter().find(|word| !VERSION_PARTS.contains(word)) {
        let message = format!("`{}` has an unknown placeholder `{{{word}}}`", branch.value);
        let problem = Problem::error(Code::InvalidText, message)
            .label(&branch.place, "no value for it here")
            .help("the placeholders are `{major}`, `{minor}` and `{patch}`");
        node.report(problem);
    }
}
