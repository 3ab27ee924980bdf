//! `script`.

use std::str::FromStr;

use super::runtime::refuse_one_path;
use crate::PackageKind;
use crate::line::Scope;
use crate::reader::Node;
use crate::text::{ShortName, TextError, refuse};
use base::names::{ModuleName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// A console script.
#[derive(Debug, Clone)]
pub struct Script {
    /// Command.
    pub name: Spanned<String>,
    /// Program or function.
    pub target: Spanned<ScriptTarget>,
    /// Starts the program of the devel tree, expanded before.
    pub expand_devel: bool,
    /// Targets.
    pub when: Condition,
    /// Reason why the program can be absent; the command is then not registered.
    pub optional: Option<String>,
    /// Program of the same part of a build: if it is shipped, the script's program cannot be absent.
    pub beside: Option<RelPath>,
}

impl crate::HasCondition for Script {
    fn when(&self) -> Condition {
        self.when
    }
}

/// Program or function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptTarget {
    /// Program below the platform directory.
    Program(RelPath),
    /// Function of the import package (`__main__:main`).
    Function(String),
}

/// Makes a console script, a command in the environment's `bin`.
#[derive(Line)]
#[line(
    "script",
    once = in_file,
    check(check_target(name, program, function)),
    makes = Script,
    then = usual,
    usage = r#"script "NAME" "NAME" program="…" expand-devel=#true optional="WHY" beside="…" mode="…" on="…""#,
    example = r#"script "fft-info" program="bin/fft-info" expand-devel=#true on="linux""#
)]
pub(crate) struct ScriptLine {
    /// Commands, each once in the file for a mode and a system.
    #[each("NAME", "a name", via = ShortName)]
    name: Spanned<String>,
    /// The program, below the platform directory; without it, `bin/NAME`. A selector ships no
    /// programs: its scripts need `function`.
    #[prop]
    program: Option<Spanned<RelPath>>,
    /// The function of the import package, `MODULE:FUNCTION`.
    #[prop(via = Function)]
    function: Option<Spanned<ScriptTarget>>,
    /// Start the program of the devel tree if that package is installed, expanding it first.
    #[prop]
    expand_devel: bool,
    /// Reason why the program may be missing; the command is then absent. Without it, an error.
    #[prop("WHY")]
    optional: Option<String>,
    /// Another program of the same part of a build: if the package ships it, a missing program of
    /// the script is an error in spite of `optional`.
    #[prop]
    beside: Option<RelPath>,
    /// Targets.
    #[when]
    when: Condition,
}

fn usual(line: ScriptLine, _: &Node<'_>, _: &Scope<'_, '_>) -> Option<Script> {
    let ScriptLine { name, program, function, expand_devel, optional, beside, when } = line;
    let program = program.map(|p| Spanned::new(ScriptTarget::Program(p.value), p.place));
    let program_by_name = || {
        let path = format!("bin/{}", *name).parse().ok()?;
        Some(Spanned::new(ScriptTarget::Program(path), name.place.clone()))
    };
    let target = program.or(function).or_else(program_by_name)?;
    Some(Script { name, target, expand_devel, when, optional, beside })
}

fn check_target(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    names: &[Spanned<String>],
    program: Option<&Spanned<RelPath>>,
    function: Option<&Spanned<ScriptTarget>>,
) {
    let is_selector = scope.kind == Some(PackageKind::Selector);
    if !node.has_property("program") && !node.has_property("function") && is_selector {
        node.fault(format!("`{}` has no program or function", node.title()), "add `function=…`");
    }
    if let (Some(program), Some(function)) = (program, function) {
        let message = format!("`{}` has both a program and a function", node.title());
        let problem = Problem::error(Code::ScriptTarget, message)
            .label(&program.place, "program")
            .label(&function.place, "function");
        node.report(problem.help("keep one of them: a script starts either"));
    }
    if let Some(program) = program.filter(|_| is_selector) {
        let message = format!("`{}` names a program, but a selector has no programs", node.title());
        let problem = Problem::error(Code::ScriptTarget, message)
            .label(&program.place, "a selector has no installed files");
        node.report(problem.help("write function=\"MODULE:FUNCTION\""));
    }
    let place = program.map(|p| Spanned::new((), p.place.clone()));
    let place = place.or(function.map(|f| Spanned::new((), f.place.clone())));
    refuse_one_path(node, names, place.as_ref());
}

/// `module:function` of a console script (entry points specification).
struct Function(ScriptTarget);

impl FromStr for Function {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let dotted = |names: &str| names.split('.').all(|name| name.parse::<ModuleName>().is_ok());
        if text.split_once(':').is_some_and(|(module, object)| dotted(module) && dotted(object)) {
            return Ok(Self(ScriptTarget::Function(text.to_owned())));
        }
        refuse(
            format!("`{text}` is not a function of the import package"),
            "write `MODULE:FUNCTION`",
        )
    }
}
