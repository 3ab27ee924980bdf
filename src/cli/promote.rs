//! The arguments of `rockpack wheel promote`.

use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

use super::MakingArgs;

/// Make packages of another version out of those of a build
///
/// What rockpack built becomes, byte for byte, what a build of the same artifacts would have made with
/// the new version: names of files and directories, metadata, requirements of each other, the data of
/// the installed runtime, links of device packages, bills of materials and RECORD. All else is copied as
/// it is stored, nothing is compressed again. Values are found by structure: a version that is a part of
/// another text stays.
///
/// Packages of others that carry the version in the local part of their own, such as 2.10.0+rocm7.10.0rc1,
/// are promoted too, by the `promote` lines of packages.kdl. Other packages are copied.
///
/// --keep-targets leaves out the packages for all other targets, and what selectors and metadata say of
/// them. Where the default target goes, the first that is kept takes its place. Packages that are for one
/// target only do not change.
///
/// With SHA256SUMS beside them, the packages have to be those that it lists: all of them, and no other
/// that rockpack made.
///
/// A package that `rockpack wheel verify` refuses by itself is refused, unless --allow names the finding's code.
///
/// The packages go to OUT/dist, with SHA256SUMS and a provenance statement that names the packages they
/// are made of. They are put in place in one step; when anything fails, OUT stays as it was. Packages
/// that an earlier build recorded in OUT are removed.
///
/// Exit status: 0 promoted, 1 the packages cannot be promoted, 2 something is wrong with the command line
/// or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PromoteArgs {
    /// The packages: what `rockpack build` had as --output, or the `dist` directory in it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// The version that they get (PEP 440)
    #[arg(long, value_name = "VERSION")]
    pub to: Version,

    /// The targets to keep, with `,` or `;` between [default: all]
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
