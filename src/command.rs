//! What each command does: one module a command, arguments in, text and an exit status out.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ::build::execute::ExecuteError;
use base::names::RelPath;
use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use wheel::archive::stage;

use crate::cli::Command;
use crate::failure::{Failure, environment};
use crate::ui;

mod artifact;
mod assemble;
mod audit;
mod build;
mod cache;
mod check;
mod completions;
mod demo;
mod diff;
mod edited;
mod elf;
mod explain;
mod fetch;
mod fmt;
mod gate;
mod help;
mod index;
mod init;
mod man;
mod mirror;
mod pack_stream;
mod plan;
mod promote;
mod prune;
mod publish;
mod repack;
mod retag;
mod scan;
#[cfg(feature = "serve")]
mod serve;
#[cfg(not(feature = "serve"))]
#[path = "command/serverless.rs"]
mod serve;
mod sources;
mod split;
mod verify;
mod version;
mod wheels;

/// Carries out a command.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Init(args) => init::run(args),
        Command::Version(args) => version::run(args),
        Command::Fetch(args) => fetch::run(args),
        Command::Scan(args) => scan::run(args),
        Command::Check(args) => check::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Sources(args) => sources::run(args),
        Command::Build(args) => build::run(args),
        Command::Assemble(args) => assemble::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Retag(args) => retag::run(args),
        Command::Repack(args) => repack::run(args),
        Command::Promote(args) => promote::run(args),
        Command::Split(args) => split::run(args),
        Command::Index(args) => index::run(args),
        Command::Publish(args) => publish::run(args),
        Command::Prune(args) => prune::run(args),
        Command::Mirror(args) => mirror::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Artifact(args) => artifact::run(&args.command),
        Command::Elf(args) => elf::run(&args.command),
        Command::Cache(args) => cache::run(&args.command),
        Command::Demo(args) => demo::run(args),
        Command::PackStream(args) => pack_stream::run(args),
        Command::Completions(args) => completions::run(args.shell),
        Command::Man(_) => man::run(),
        Command::Help(args) => help::run(args),
    }
}

/// Undoes a change of a destination that was interrupted, where `path` is in one, and says so.
fn repaired(path: &Path) -> Result<(), Failure> {
    // Packages are at most two directories below a destination.
    let path = std::path::absolute(path).map_err(|e| environment(e.to_string()))?;
    for dest in path.ancestors().take(4) {
        if stage::repair(dest).map_err(|e| environment(with_causes(&e)))? {
            let what = format!("a build was stopped while it changed {}", dest.display());
            let note = Problem::note(Code::Environment, what);
            ui::show_problems(&note.help("what was there before is restored").into());
        }
    }
    Ok(())
}

/// Packages that were made, and those that went, which an `earlier` run or build left.
fn made(packages: &BTreeMap<RelPath, String>, removed: &[RelPath], earlier: &str) -> String {
    let made = packages.iter().map(|(path, sha256)| format!("{sha256}  {path}\n"));
    let gone =
        removed.iter().map(|path| format!("removed {path}, which an earlier {earlier} left\n"));
    made.chain(gone).collect()
}

/// Writes a result that people read to standard output: names in it can do nothing to a terminal.
fn print(text: &str) -> Result<(), Failure> {
    ui::print(text).map_err(|error| not_printed(&error))
}

/// Writes a result as it is: what machines read, or what we style.
fn print_exact(text: &str) -> Result<(), Failure> {
    ui::print_exact(text).map_err(|error| not_printed(&error))
}

fn not_printed(error: &io::Error) -> Failure {
    environment(format!("cannot print the result: {error}"))
}

/// The artifacts are at fault, or else the machine.
fn not_executed(error: &ExecuteError) -> Failure {
    match error {
        ExecuteError::Files(files) => {
            let mut problems = Problems::new();
            for file in files {
                problems.push(Problem::error(Code::BuildFailed, file));
            }
            Failure::Problems(problems)
        }
        ExecuteError::InTheWay(_) => {
            let help = "the checksums would be of another file than this one: move it away";
            Problem::usage(Code::Environment, with_causes(error)).help(help).into()
        }
        ExecuteError::Stage(_)
        | ExecuteError::Full { .. }
        | ExecuteError::Earlier(_)
        | ExecuteError::Output { .. } => environment(with_causes(error)),
    }
}
