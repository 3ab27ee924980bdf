//! The arguments of `rockpack check`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Check packages.kdl and families.kdl by themselves
///
/// Takes milliseconds and needs no artifacts. Finds what can be known without them: mistakes in
/// the files, names that lead nowhere, rules that contradict each other or can never count,
/// packages that rely on what is not built where they are. `rockpack plan` checks the rest.
///
/// Exit status: 0 fine (there may be warnings), 1 problems found, 2 something is wrong with the
/// command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Where packages.kdl and families.kdl are, or `built-in` for the program's own copy [default: this directory]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub manifest: Option<PathBuf>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  Before a commit:
    rockpack check

  As annotations on the changed lines of a pull request:
    rockpack check --manifest packaging --message-format github

  For code scanning:
    rockpack check --message-format sarif 2> rockpack.sarif
";
