use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{ContractArgs, DenyArgs};

/// Check packages.kdl and families.kdl without artifacts
///
/// Finds syntax errors, unknown names, rules that contradict each other or never apply, and
/// packages that rely on others that their mode does not build. `rockpack plan` checks the rest.
///
/// Exit status: 0 no errors, 1 problems found, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub deny: DenyArgs,

    #[command(flatten)]
    pub contract: ContractArgs,

    /// The contract as JSON
    #[arg(long, requires = "contract", help_heading = "Output")]
    pub json: bool,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  Before a commit:
    rockpack check

  As annotations on the changed lines of a pull request:
    rockpack check --manifest packaging --message-format github

  The contract with users, and in CI, its comparison with the committed file:
    rockpack check --contract contract.txt
    rockpack check --contract contract.txt --check

  For code scanning:
    rockpack check --message-format sarif 2> rockpack.sarif
";
