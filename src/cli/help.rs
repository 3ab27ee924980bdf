//! The arguments of `rockpack help`.

use clap::Args;

/// Explain a command, or the nodes of the manifest
///
/// With a command, prints what `rockpack COMMAND --help` prints. With `manifest`, explains every
/// node of packages.kdl and families.kdl: what it does, where it stands, what it takes, and an
/// example; with the name of a node after it, that node alone.
#[derive(Debug, Args)]
#[command(after_long_help = HELP_EXAMPLES)]
pub struct HelpArgs {
    /// A command, or `manifest`
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,

    /// A command below it (`elf edit`), or a node of the manifest
    #[arg(value_name = "NAME", requires = "topic")]
    pub name: Option<String>,

    /// Print the manifest's nodes as Markdown
    #[arg(long, requires = "topic", conflicts_with_all = ["name", "json"])]
    pub markdown: bool,

    /// Print the manifest's nodes as JSON
    #[arg(long, requires = "topic", conflicts_with = "name")]
    pub json: bool,
}

const HELP_EXAMPLES: &str = "\
Examples:
  All that can stand in packages.kdl and families.kdl:
    rockpack help manifest

  One node of it:
    rockpack help manifest artifact

  A command, and a command below another:
    rockpack help build
    rockpack help elf edit
";
