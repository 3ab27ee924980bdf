//! Lines of projects.

use super::Requirement;
use crate::line::Scope;
use crate::package::readme::clean;
use crate::reader::Node;
use crate::setting::Setting;
use crate::text::{Device, Variable};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Source, Spanned};
use manifest_derive::Line;

/// Names its checkout; of several lines, the first existing one applies. The build uses a copy, so the checkout stays
/// unchanged.
#[derive(Debug, Clone, Line)]
#[line("source", example = r#"source "bindings" subdirectory="python""#)]
pub struct ProjectSource {
    /// The checkout, below the directory of `--sources`.
    #[arg("DIRECTORY", "a directory")]
    pub checkout: Spanned<RelPath>,
    /// The directory of pyproject.toml or setup.py in it, unless that is its top.
    #[prop("DIRECTORY")]
    pub subdirectory: Option<RelPath>,
}

impl ProjectSource {
    /// Returns the directory of the project, below the root of all sources.
    pub fn directory(&self) -> RelPath {
        self.subdirectory
            .as_ref()
            .map_or_else(|| self.checkout.value.clone(), |below| self.checkout.join(below))
    }
}

/// Names files that its checkout has to have, of which one is enough: otherwise it counts as not checked out, and the
/// missing files are named.
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

/// A program with its arguments, and conditions.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program and its arguments; of a script, its arguments.
    pub words: Vec<Spanned<Setting>>,
    /// The shell script, in place of a program.
    pub script: Option<RunScript>,
    /// It runs if the checkout has this.
    pub if_there: Option<RelPath>,
    /// It runs if the machine has this: a device.
    pub needs: Option<String>,
}

/// Shell script of a command.
#[derive(Debug, Clone)]
pub struct RunScript {
    /// The file, relative to the manifest's directory.
    pub path: RelPath,
    /// Its text, without placeholders.
    pub text: String,
}

/// Most bytes of a script. Linux passes at most 128 KiB in one argument.
const MOST_OF_SCRIPT: usize = 64 << 10;

/// Runs a program or a shell script in the copy of its checkout before it is built; several run in their order.
#[derive(Line)]
#[line(
    "run",
    makes = Command,
    then = Run::command,
    usage = r#"run "PROGRAM" "ARGUMENT" script="FILE" if="FILE""#,
    example = r#"run "{python}" "render_version.py" if="render_version.py""#
)]
pub struct Run {
    /// The program and its arguments, one by one, with the placeholders of `env`; there is no shell. With `script`, the
    /// arguments of the script, `$1`, `$2` and so on.
    #[arg("PROGRAM", "a program", many, shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// A script for `sh`, in place of a program: a text of at most 64 KiB, in the directory of packages.kdl or below. It
    /// has no placeholders.
    #[prop("FILE")]
    script: Option<Spanned<RelPath>>,
    /// Runs it only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
}

impl Run {
    fn command(self, node: &Node<'_>, scope: &Scope<'_, '_>) -> Option<Command> {
        let Self { words, script, if_there } = self;
        if words.is_empty() && !node.had("script") && node.is_sound() {
            node.fault(format!("`{}` lacks a program", node.title()), "a program has to follow");
            return None;
        }
        let script = script.and_then(|path| RunScript::read(path, node, scope));
        Some(Command { words, script, if_there, needs: None })
    }
}

impl RunScript {
    /// Reads the file. Its text is a source of the manifest.
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
                node.report(problem.help("give the path of a shell script beside packages.kdl"));
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

/// Runs a program against the installed wheel, with `--run-tests`: in an environment with the wheel, its requirements
/// and `test-requires`, and in an empty directory. A status other than 0 fails the build.
#[derive(Line)]
#[line(
    "test",
    makes = Command,
    rest,
    example = r#"test "{python}" "-m" "pytest" "{source}/tests" if="tests" needs="/dev/example""#
)]
pub struct Test {
    /// The program and its arguments. Placeholders: {python} the Python of the environment, {source} a copy of the
    /// checkout, {docs} the directory of the documentation, {jobs}, {isas} and {NAME} as in `env`.
    #[arg("PROGRAM", "a program", shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// Runs it only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
    /// Runs it only if the machine has this file, such as the device of a GPU; elsewhere it is skipped, and the build
    /// says so.
    #[prop("FILE", via = Device)]
    needs: Option<String>,
}

/// Runs a program that makes its documentation, with `--docs`: in an environment with the wheel and `docs-requires`,
/// and in an empty directory. The content of {docs} is copied to DEST/docs/NAME.
#[derive(Line)]
#[line(
    "docs",
    makes = Command,
    rest,
    example = r#"docs "{python}" "-m" "sphinx" "{source}/docs" "{docs}" if="docs/conf.py""#
)]
pub struct Docs {
    /// The program and its arguments. Placeholders: {python} the Python of the environment, {source} a copy of the
    /// checkout, {docs} the directory of the documentation, {jobs}, {isas} and {NAME} as in `env`.
    #[arg("PROGRAM", "a program", shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// Runs it only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
}

/// Commands for an environment in which a project's wheel is installed.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// Their requirements, in addition to the wheel (PEP 508).
    pub requires: Vec<Requirement>,
    /// The commands.
    pub commands: Vec<Command>,
}

/// Name and value of a variable or setting.
pub type Pair<K> = (Spanned<K>, Spanned<Setting>);

/// Sets an environment variable for its commands and its build.
#[derive(Line)]
#[line(
    "env",
    once = "environment variable",
    makes = Pair::<String>,
    tuple,
    example = r#"env "EXAMPLE_PATH" "{devel}""#
)]
pub(crate) struct Env {
    /// The variable.
    #[arg("VARIABLE", "a variable", via = Variable)]
    name: Spanned<String>,
    /// Its value. Placeholders: {devel} the devel tree of the same build, {source} the copy of the checkout, {python}
    /// the Python of the build, {jobs} the allowed number of processes, {isas} the ISAs of the build with `;` between,
    /// {prefix:NAME} the directory of an earlier `native-project`, {prefix} the own directory of a `native-project`,
    /// and {NAME} a `variable`. `${NAME}` is left to shells.
    #[arg("VALUE", "a value")]
    value: Spanned<Setting>,
}

/// Passes a setting to the build backend (PEP 517), as `python -m build -C` does; a key given twice makes a list.
#[derive(Line)]
#[line(
    "config-setting",
    makes = Pair::<String>,
    tuple,
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

/// Names a value, used as {NAME} in the lines of projects. `--variable NAME=VALUE` sets another.
#[derive(Line)]
#[line(
    "variable",
    makes = Pair::<PackageName>,
    tuple,
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

/// Placeholders of a branch.
const VERSION_PARTS: [&str; 3] = ["major", "minor", "patch"];

/// Reports placeholders that no version fills.
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
