use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

/// Compare the checkouts of projects with the manifest
///
/// Lists every checkout: state, branch, commit, the branch that the manifest expects for the
/// version, projects, and missing files. A checkout is dirty if its files differ from its commit.
/// With --remote, git is asked for the commit of the expected branch.
///
/// Exit status: 0 all checkouts are as expected, 1 one is missing, incomplete, dirty or of another
/// branch or commit, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = LIST_EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    pub checkouts: CheckoutArgs,
}

/// Clone the missing checkouts of projects, each with its expected branch
///
/// Existing checkouts are not changed. Prints the same list as `rockpack project list`.
///
/// Exit status: as `rockpack project list`.
#[derive(Debug, Args)]
#[command(after_long_help = CLONE_EXAMPLES)]
pub struct CloneArgs {
    #[command(flatten)]
    pub checkouts: CheckoutArgs,
}

#[derive(Debug, Args)]
pub struct CheckoutArgs {
    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Directory with the source checkouts
    #[arg(long, value_name = "DIR", env = "ROCKPACK_SOURCES", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub sources: PathBuf,

    /// Version that determines the expected branches [default: branches without a version]
    #[arg(long, value_name = "V")]
    pub version: Option<Version>,

    /// Ask git for the commit of each expected branch
    #[arg(long)]
    pub remote: bool,

    /// Print JSON: `{"checkouts": [{"directory", "state", ...}]}`
    #[arg(long)]
    pub json: bool,
}

const LIST_EXAMPLES: &str = "\
Examples:
  The checkouts below ../src for 7.2.0, and the missing ones:
    rockpack project list --sources ../src --version 7.2.0
";

const CLONE_EXAMPLES: &str = "\
Examples:
  Clone the missing checkouts of 7.2.0 below ../src:
    rockpack project clone --sources ../src --version 7.2.0
";
