//! Lines of projects.

use super::Requirement;
use crate::line::Scope;
use crate::reader::Node;
use crate::setting::Setting;
use crate::text::{Device, Variable};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Names its checkout; of several lines, the first that is there counts. A copy is built, so that the checkout stays
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
    /// The program and its arguments.
    pub words: Vec<Spanned<Setting>>,
    /// It runs if the checkout has this.
    pub if_there: Option<RelPath>,
    /// It runs if the machine has this: a device.
    pub needs: Option<String>,
}

/// Runs a program in the copy of its checkout before it is built; several run in their order.
#[derive(Line)]
#[line(
    "run",
    makes = Command,
    rest,
    example = r#"run "{python}" "render_version.py" if="render_version.py""#
)]
pub struct Run {
    /// The program and its arguments, one by one, with the placeholders of `env`; there is no shell.
    #[arg("PROGRAM", "a program", shown = r#""PROGRAM" "ARGUMENT""#)]
    words: Vec<Spanned<Setting>>,
    /// Runs it only if the checkout has this file or directory.
    #[prop("FILE", name = "if")]
    if_there: Option<RelPath>,
}

/// Runs a program against the installed wheel, with `--projects tests`: in an environment with the wheel, its requirements
/// and `test-requires`, and in an empty directory. One that ends with another status than 0 fails the build.
#[derive(Line)]
#[line(
    "test",
    makes = Command,
    example = r#"test "{python}" "-m" "pytest" "{source}/tests" if="tests" needs="/dev/example""#
)]
pub struct Test {
    /// The program and its arguments, one by one. {python} stands for the Python of the environment, {source} for a
    /// copy of the checkout, {docs} for the directory of the documentation, {jobs} and {isas} for the same as in `env`,
    /// {NAME} for a `variable`.
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

/// Runs a program that makes its documentation, with `--projects docs`: beside the installed wheel and `docs-requires`, and in
/// an empty directory. The content of {docs} afterwards goes to DEST/docs/NAME.
#[derive(Line)]
#[line(
    "docs",
    makes = Command,
    rest,
    example = r#"docs "{python}" "-m" "sphinx" "{source}/docs" "{docs}" if="docs/conf.py""#
)]
pub struct Docs {
    /// The program and its arguments, one by one. {python} stands for the Python of the environment, {source} for a
    /// copy of the checkout, {docs} for the directory of the documentation, {jobs} and {isas} for the same as in `env`,
    /// {NAME} for a `variable`.
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
pub struct Env {
    /// The variable.
    #[arg("VARIABLE", "a variable", via = Variable)]
    name: Spanned<String>,
    /// Its value. {devel} stands for the expanded tree of the devel package that the same build made, {source} for the
    /// copy of the checkout, {python} for the Python that builds, {jobs} for the number of processes it may start,
    /// {isas} for the ISAs of the build with `;` between, {prefix:NAME} for the directory of a `native-project` that
    /// comes before, in one itself {prefix} for its own directory, and {NAME} for a `variable`. `${NAME}` is left to
    /// shells.
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
pub struct ConfigSetting {
    /// The backend's name for it.
    #[arg("KEY", "a key")]
    name: Spanned<String>,
    /// Its value, with the placeholders of `env`.
    #[arg("VALUE", "a value")]
    value: Spanned<Setting>,
}

/// Gives a value a name: {NAME} stands for it in the lines of projects. `--variable NAME=VALUE` sets another.
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
            .label(&branch.place, "nothing fills this")
            .help("placeholders are `{major}`, `{minor}` and `{patch}`");
        node.report(problem);
    }
}
