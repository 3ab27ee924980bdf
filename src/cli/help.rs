use clap::Args;

use super::HelpCommand;

/// Explain commands and the manifest; man page, completions, versions
///
/// `help COMMAND` is the same as `COMMAND --help`. `help manifest` explains every node of
/// packages.kdl and families.kdl, `help manifest NODE` one node. `help CODE` explains the code of a
/// problem: its meaning, the commands that report it, and a line that accepts it.
#[derive(Debug, Args)]
#[command(after_long_help = HELP_EXAMPLES, disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
pub struct HelpArgs {
    #[command(subcommand)]
    pub command: Option<HelpCommand>,

    /// Command, `manifest`, or the code of a problem
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,

    /// Subcommand (`elf edit`), or node of the manifest
    #[arg(value_name = "NAME", requires = "topic")]
    pub name: Option<String>,

    /// Print the manifest's nodes, or without a topic all commands, as Markdown
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub markdown: bool,

    /// Print the manifest's nodes as JSON
    #[arg(long, requires = "topic", conflicts_with = "name")]
    pub json: bool,
}

const HELP_EXAMPLES: &str = "\
Examples:
  All nodes of packages.kdl and families.kdl:
    rockpack help manifest

  One node:
    rockpack help manifest artifact

  The code of a problem:
    rockpack help rpath-outside

  A command, and a subcommand:
    rockpack help build
    rockpack help elf edit
";
