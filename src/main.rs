//! The `rockpack` command: arguments in, pictures and exit status out.

use std::io::{self, Write as _};

use base::cleanup;
use base::source::Problems;
use signal_hook::low_level;

mod allocator;
mod builtin;
mod cli;
mod command;
mod complete;
mod failure;
mod inputs;
mod open_files;
mod panics;
mod signals;
mod ui;

use cli::{Cli, Command};
use failure::Failure;

/// glibc returns memory to the system each time: planning, with hundreds of thousands of small
/// allocations, takes a fifth longer with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if let Some(status) = projects::run_confined(std::env::args_os()) {
        low_level::exit(status.into());
    }
    if let Some(status) = complete::run() {
        end(status.into());
    }
    panics::end_the_process();
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            end(error.exit_code())
        }
    };
    ui::init(cli.message_format, cli.color, cli.quiet, denies_warnings(&cli.command));
    ui::show_problems(&cli::misspelled_variables());
    // Unwatched signals end the process as usual.
    let _ = signals::watch();
    open_files::allow_many();
    let result = command::run(&cli.command);
    cleanup::wait_if_ending();
    let (problems, status) = match result {
        Ok(()) => (Problems::new(), u8::from(ui::has_denied())),
        Err(Failure::Problems(problems)) => {
            let status = if problems.blame_usage() { 2 } else { 1 };
            (problems, status)
        }
        Err(Failure::Reported) => (Problems::new(), 1),
        Err(Failure::Environment(problem)) => (problem.into(), 2),
    };
    ui::show_problems(&problems);
    end(ui::finish(status).into())
}

/// Ends the process at once: otherwise the allocator first returns megabytes to the system, piece by
/// piece.
fn end(status: i32) -> ! {
    let _ = io::stdout().flush();
    low_level::exit(status)
}

fn denies_warnings(command: &Command) -> bool {
    match command {
        Command::Check(args) => args.deny.deny_warnings,
        Command::Plan(args) => args.deny.deny_warnings,
        Command::Build(args) => args.deny.deny_warnings,
        Command::Diff(args) => args.deny.deny_warnings,
        _ => false,
    }
}
