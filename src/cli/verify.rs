use std::path::PathBuf;

use clap::{Args, ValueHint};
use plan::OnlyName;

use super::{AllowArgs, JobsArgs};

/// Check wheels and sdists of any maker
///
/// Checks each wheel: the archive as strict installers read it, RECORD, names, tags, metadata,
/// permissions, programs, entry points; each sdist: its one directory, metadata and links; the set:
/// one owner for each path, rpaths, required versions and extras, SHA256SUMS if present. With
/// --plan, packages, platform tag and files must be exactly the plan's.
///
/// The sdist of a selector is also built by its backend, and every module imported, by the
/// `python3` in PATH, but only if all its code is, byte for byte, this rockpack's. Other sdists are
/// not run; a note names them.
///
/// An `ignore` line in packages.kdl accepts findings by their code, with a reason: `rockpack help
/// manifest ignore`. --allow turns an error into a warning, for this run.
///
/// Exit status: 0 no errors, 1 error in a package, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Wheels, sdists and directories of them, such as `dist`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required = true)]
    pub paths: Vec<PathBuf>,

    /// Plan of the packages, printed by `rockpack plan --json`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub plan: Option<PathBuf>,

    /// Only these packages of the plan, by name in packages.kdl or of the distribution; `*` and `?`
    /// are allowed
    ///
    /// For one job of several.
    #[arg(
        long,
        value_name = "NAME",
        requires = "plan",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub only: Vec<OnlyName>,

    /// Packages installed with these (directory or file), not checked themselves
    ///
    /// For rpaths and required versions.
    #[arg(long = "with", value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Input")]
    pub with: Vec<PathBuf>,

    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub manifest: Option<PathBuf>,

    /// Print packages and findings as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub threads: JobsArgs,

    /// Print more: every member at fault, and the ignored findings with their reasons
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Running")]
    pub verbose: bool,

    #[command(flatten, next_help_heading = "Running")]
    pub allow: AllowArgs,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  The packages of a build, before they are published:
    rockpack wheel verify out/dist

  The same, against the reviewed plan:
    rockpack wheel verify out/dist --plan plan.json

  The packages of one job, beside those of the others:
    rockpack wheel verify out/dist --plan plan.json --only core --with others/dist

  A wheel from elsewhere, for a script:
    rockpack wheel verify numpy-2.1.0-cp312-cp312-manylinux_2_28_x86_64.whl --json

  As annotations of a pull request:
    rockpack wheel verify out/dist --message-format github
";
