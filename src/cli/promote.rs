//! Arguments of `rockpack wheel promote`.

use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

use super::MakingArgs;

/// Make packages of another version from the packages of a build
///
/// Packages that rockpack built become, byte for byte, the packages that a build of the same
/// artifacts makes with the new version: names of files and directories, metadata, requirements of
/// each other, the data of the installed runtime, links of device packages, bills of materials and
/// RECORD. All other bytes are copied as they are stored, without new compression. Values are found
/// by structure: a version inside another text stays.
///
/// Packages of others with the version in the local part of their own, such as
/// 2.10.0+rocm7.10.0rc1, are promoted too, by the `promote` lines of packages.kdl. Other packages
/// are copied.
///
/// --keep-targets leaves out the packages for all other targets, and their names in selectors and
/// metadata. If the default target is left out, the first kept target replaces it. Packages for one
/// target only do not change.
///
/// With SHA256SUMS next to the packages, all listed packages must exist, and no other package that
/// rockpack made.
///
/// A package that `rockpack wheel verify` alone refuses is refused, unless --allow names the
/// finding's code.
///
/// Writes the packages to OUT/dist, with SHA256SUMS and a provenance statement that names their
/// source packages. Outputs are put in place in one step; if anything fails, OUT stays as it was.
/// Packages that an earlier build recorded in OUT are removed.
///
/// Exit status: 0 promoted, 1 the packages cannot be promoted, 2 an error in the command line or
/// the environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PromoteArgs {
    /// Directory of the packages: the --output of `rockpack build`, or the `dist` directory in it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Version of the new packages (PEP 440)
    #[arg(long, value_name = "VERSION")]
    pub to: Version,

    /// Targets to keep, separated by `,` or `;` [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub keep_targets: Vec<String>,

    /// Directory for the new packages (OUT/dist)
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath, required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// List each field that would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub making: MakingArgs,
}

const EXAMPLES: &str = "\
Examples:
  A release candidate becomes the release:
    rockpack wheel promote rc1 --to 7.10.0 -o release
  See first what would change:
    rockpack wheel promote rc1 --to 7.10.0 --dry-run
  Of a nightly build, for two GPUs:
    rockpack wheel promote nightly --to 7.13.0rc1 --keep-targets gfx942,gfx1201 -o candidate
";
