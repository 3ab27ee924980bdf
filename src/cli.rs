//! The command line: raw arguments and what they ask for.

use clap::{Parser, Subcommand};

mod build;
mod elf;
mod plan;
mod set;

pub use build::BuildArgs;
pub use elf::{EditArgs, ElfArgs, ElfCommand, ShowArgs, VerifyArgs};
pub use plan::PlanArgs;
pub use set::{CatalogArgs, SetArgs};

/// Builds the Python packages of ROCm out of a build's artifacts.
///
/// packages.kdl says which package ships what; `rockpack plan` shows what comes of it, and
/// `rockpack build` makes exactly that.
#[derive(Debug, Parser)]
#[command(version, propagate_version = false, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Plan(PlanArgs),
    Build(BuildArgs),
    Elf(ElfArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
