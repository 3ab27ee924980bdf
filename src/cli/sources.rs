//! The arguments of `rockpack sources`.

use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

/// Compare the checkouts of projects with what the manifest says of them
///
/// Lists every checkout that a project is built from: whether it is there, its branch and commit, the
/// branch that the manifest expects for the version, the projects in it, and what they lack, file by
/// file. A checkout whose files differ from its commit is dirty. With --remote, git is asked which commit the expected branch has.
///
/// Exit status: 0 all checkouts are there as expected, 1 one is missing, lacks something, is dirty or is of
/// another branch or commit, 2 something is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SourcesArgs {
    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default: this directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Directory with the source checkouts
    #[arg(long, value_name = "DIR", env = "ROCKPACK_SOURCES", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub sources: PathBuf,

    /// The version that branches are for
    #[arg(long, value_name = "V")]
    pub version: Version,

    /// Ask git for the commit of each expected branch
    #[arg(long)]
    pub remote: bool,

    /// Clone the missing checkouts, each with its expected branch
    #[arg(long)]
    pub clone: bool,

    /// Print JSON: `{"checkouts": [{"directory", "state", ...}]}`
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  What is missing below ../src for 7.2.0:
    rockpack sources --sources ../src --version 7.2.0

  Clone it:
    rockpack sources --sources ../src --version 7.2.0 --clone
";
