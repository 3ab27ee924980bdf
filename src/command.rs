//! What each command does: one module a command, arguments in, text and an exit status out.

use rockpack::execute::ExecuteError;
use rockpack::source::{Code, Problem, Problems};

use crate::cli::Command;
use crate::ui;

mod audit;
mod build;
mod cache;
mod check;
mod completions;
mod diff;
mod elf;
mod explain;
mod help;
mod index;
mod man;
mod plan;
mod retag;
mod scan;
mod serve;
mod verify;

/// Why a command did not do what it was asked: the exit status tells scripts which.
pub enum Failure {
    /// The manifest or the artifacts are at fault (1).
    Problems(Problems),
    /// The command line or the environment is (2).
    Environment(Problem),
    /// What was printed says so already (1).
    Said,
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Environment(problem)
    }
}

/// Carries out a command.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Scan(args) => scan::run(args),
        Command::Check(args) => check::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Build(args) => build::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Retag(args) => retag::run(args),
        Command::Index(args) => index::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Elf(args) => elf::run(&args.command),
        Command::Cache(args) => cache::run(&args.command),
        Command::Completions(args) => completions::run(args.shell),
        Command::Man(_) => man::run(),
        Command::Help(args) => help::run(args),
    }
}

/// Writes a result to standard output.
fn print(text: &str) -> Result<(), Failure> {
    ui::print(text).map_err(|error| environment(format!("cannot print the result: {error}")))
}

/// The command line or the machine is at fault (2).
fn environment(message: impl Into<String>) -> Failure {
    Problem::error(Code::Environment, message).into()
}

/// The artifacts are at fault, or else the machine.
fn not_executed(error: &ExecuteError) -> Failure {
    match error {
        ExecuteError::Files(_) => Failure::Problems(Problem::error(Code::BuildFailed, error.to_string()).into()),
        ExecuteError::Stage(_) | ExecuteError::Full { .. } | ExecuteError::Output { .. } => environment(error.to_string()),
    }
}
