use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ::build::execute::ExecuteError;
use base::names::RelPath;
use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use wheel::archive::stage;

use crate::cli::{ArtifactCommand, Command, HelpCommand, IndexCommand, WheelCommand};
use crate::failure::{Failure, environment};
use crate::ui;

mod artifact;
mod audit;
mod build;
mod cache;
mod check;
mod completions;
mod contract;
mod delta;
mod diff;
mod edited;
mod elf;
mod explain;
mod fetch;
mod fetch_packages;
mod fmt;
mod gate;
mod help;
mod index;
mod init;
mod man;
mod merge;
mod mirror;
mod pack_stream;
mod plan;
mod project;
mod promote;
mod prune;
mod publish;
mod repack;
mod retag;
mod scan;
mod since;
mod split;
mod verify;
mod versions;
mod wheels;

pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Init(args) => init::run(args),
        Command::Check(args) => check::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Build(args) => build::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Artifact(command) => of_artifacts(command),
        Command::Wheel(command) => of_wheels(command),
        Command::Index(command) => of_indexes(command),
        Command::Project(command) => project::run(command),
        Command::Elf(args) => elf::run(&args.command),
        Command::Cache(args) => cache::run(&args.command),
        Command::PackStream(args) => pack_stream::run(args),
        Command::Help(args) => match &args.command {
            Some(command) => of_help(command),
            None => help::run(args),
        },
    }
}

fn of_artifacts(command: &ArtifactCommand) -> Result<(), Failure> {
    match command {
        ArtifactCommand::Fetch(args) => fetch::run(args),
        ArtifactCommand::Scan(args) => scan::run(args),
        ArtifactCommand::Pack(args) => artifact::run(args),
    }
}

fn of_wheels(command: &WheelCommand) -> Result<(), Failure> {
    match command {
        WheelCommand::Verify(args) => verify::run(args),
        WheelCommand::Audit(args) => audit::run(args),
        WheelCommand::Retag(args) => retag::run(args),
        WheelCommand::Repack(args) => repack::run(args),
        WheelCommand::Promote(args) => promote::run(args),
        WheelCommand::Split(args) => split::run(args),
    }
}

fn of_indexes(command: &IndexCommand) -> Result<(), Failure> {
    match command {
        IndexCommand::Write(args) => index::run(args),
        IndexCommand::Publish(args) => publish::run(args),
        IndexCommand::Prune(args) => prune::run(args),
        IndexCommand::Mirror(args) => mirror::run(args),
        IndexCommand::Delta(args) => delta::run(args),
        IndexCommand::Fetch(args) => fetch_packages::run(args),
    }
}

fn of_help(command: &HelpCommand) -> Result<(), Failure> {
    match command {
        HelpCommand::Man(_) => man::run(),
        HelpCommand::Completions(args) => completions::run(args.shell),
        HelpCommand::Versions(args) => versions::run(args),
    }
}

fn repaired(path: &Path) -> Result<(), Failure> {
    // Packages are at most two directories below a destination.
    let path = std::path::absolute(path).map_err(|e| environment(e.to_string()))?;
    for dest in path.ancestors().take(4) {
        if stage::repair(dest).map_err(|e| environment(with_causes(&e)))? {
            let message =
                format!("an earlier build was interrupted during changes of {}", dest.display());
            let note = Problem::note(Code::Environment, message);
            ui::show_problems(&note.help("the previous files are restored").into());
        }
    }
    Ok(())
}

fn made(packages: &BTreeMap<RelPath, String>, removed: &[RelPath], earlier: &str) -> String {
    let made = packages.iter().map(|(path, sha256)| format!("{sha256}  {path}\n"));
    let removals =
        removed.iter().map(|path| format!("removed {path}, which an earlier {earlier} left\n"));
    made.chain(removals).collect()
}

fn print(text: &str) -> Result<(), Failure> {
    ui::print(text).map_err(|error| not_printed(&error))
}

fn print_exact(text: &str) -> Result<(), Failure> {
    ui::print_exact(text).map_err(|error| not_printed(&error))
}

fn not_printed(error: &io::Error) -> Failure {
    environment(format!("cannot print the result: {error}"))
}

fn not_executed(error: &ExecuteError) -> Failure {
    match error {
        ExecuteError::Files(files) => {
            let mut problems = Problems::new();
            for file in files {
                problems.push(Problem::error(Code::BuildFailed, file));
            }
            Failure::Problems(problems)
        }
        ExecuteError::TooLarge(packages) => {
            let help = "nothing is in place: split the package, or raise the limit";
            let problem = |text| Problem::error(Code::PackageTooLarge, text).help(help);
            let mut problems = Problems::new();
            for text in packages {
                problems.push(problem(text));
            }
            Failure::Problems(problems)
        }
        ExecuteError::InTheWay(_) => {
            let help = "move it away: the new checksums would not match it";
            Problem::usage(Code::Environment, with_causes(error)).help(help).into()
        }
        ExecuteError::Stage(_)
        | ExecuteError::Full { .. }
        | ExecuteError::Earlier(_)
        | ExecuteError::Output { .. } => environment(with_causes(error)),
    }
}
