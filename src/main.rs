//! The `rockpack` command: arguments in, pictures and exit status out.

use std::process::ExitCode;

use clap::Parser;
use rockpack::source::Problems;

mod builtin;
mod cli;
mod command;
mod inputs;
mod ui;

use cli::Cli;
use command::Failure;

/// A plan is hundreds of thousands of small pieces, and edits of large libraries come and go in megabytes: a plan takes
/// a fifth less time than with glibc's, which gives those back to the system each time and asks for them again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    ui::speak(cli.message_format);
    let (problems, status) = match command::run(&cli.command) {
        Ok(()) => (Problems::new(), 0),
        Err(Failure::Problems(problems)) => {
            let status = if problems.blame_usage() { 2 } else { 1 };
            (problems, status)
        }
        Err(Failure::Said) => (Problems::new(), 1),
        Err(Failure::Environment(problem)) => (problem.into(), 2),
    };
    ui::show_problems(&problems);
    ui::finish(status != 2);
    ExitCode::from(status)
}
