//! The `rockpack` command: arguments in, pictures and exit status out.

use std::process::ExitCode;

use clap::Parser;

mod builtin;
mod cli;
mod command;
mod inputs;
mod ui;

use cli::Cli;
use command::Failure;

fn main() -> ExitCode {
    match command::run(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Problems(problems)) => {
            ui::show_problems(&problems);
            ExitCode::from(if problems.blame_usage() { 2 } else { 1 })
        }
        Err(Failure::Environment(problem)) => {
            ui::show_problems(&problem.into());
            ExitCode::from(2)
        }
    }
}
