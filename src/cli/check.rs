//! Arguments of `rockpack check`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Check packages.kdl and families.kdl without artifacts
///
/// Takes milliseconds. Finds mistakes in the files, unknown names, rules that contradict each other
/// or never apply, and packages that rely on others that their mode does not build. `rockpack plan`
/// checks the rest.
///
/// Exit status: 0 no errors (there may be warnings), 1 problems found, 2 an error in the command
/// line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default: this directory]
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
