//! Arguments of `rockpack wheel verify`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use plan::OnlyName;

use super::{AllowArgs, JobsArgs};

/// Check wheels and sdists of any maker
///
/// Reads every byte once. Checks for each wheel: the archive as strict installers read it, RECORD's
/// hashes and sizes, names, tags, metadata, permissions, programs, entry points; for each sdist:
/// its one directory, metadata and links. Checks for all together: one owner for each path, rpaths
/// that lead to directories of the set, required versions and extras of packages of the set,
/// SHA256SUMS if it exists, and with --plan that packages, their platform tag and their files are
/// exactly the plan's.
///
/// The sdist of a selector is also built by its backend, as pip and uv do it, and every module is
/// imported, by the `python3` in PATH. This is done only if all code in the sdist is, byte for
/// byte, code of this rockpack. Other code is not run: a note names such an sdist.
///
/// Each finding has a code. An `ignore` line in packages.kdl accepts findings, with a reason:
/// `rockpack help manifest ignore`. --allow turns an error into a warning, for this run.
///
/// Exit status: 0 no errors (there may be warnings), 1 an error in a package, 2 an error in the
/// command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Wheels, sdists and directories of them, such as `dist`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required = true)]
    pub paths: Vec<PathBuf>,

    /// Plan of the packages, printed by `rockpack plan --json`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub plan: Option<PathBuf>,

    /// Only these packages of the plan, by the manifest's name or the distribution's; `*` is
    /// allowed
    ///
    /// For one job of several, which made only these.
    #[arg(
        long,
        value_name = "NAME",
        requires = "plan",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub only: Vec<OnlyName>,

    /// Packages installed together with these, as a directory or file; not checked themselves
    ///
    /// Used to resolve rpaths into other packages, and required versions.
    #[arg(long = "with", value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Input")]
    pub with: Vec<PathBuf>,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default: this directory, else built-in]
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
