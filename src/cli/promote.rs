use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

use super::MakingArgs;

/// Make packages of another version from the packages of a build
///
/// Packages by rockpack become, byte for byte, the packages that a build with the new version
/// makes. Values are found by structure: a version inside another text stays. Everything else is
/// copied without new compression.
///
/// Packages of the manifest's distributions that another tool made keep their form: their metadata
/// changes, and the files that a `promote` line names.
///
/// Other packages with the version in their local part, such as 2.10.0+rocm7.10.0rc1, are promoted
/// by the `promote` lines of packages.kdl. The rest is copied.
///
/// --keep-targets leaves out packages for all other targets, and their names in selectors and
/// metadata. If that includes the default target, the first kept target replaces it.
///
/// With SHA256SUMS next to the packages, all listed packages must exist, and no other package that
/// rockpack made. Each package must pass `rockpack wheel verify` on its own; --allow accepts findings.
///
/// Writes OUT/dist with SHA256SUMS and a provenance statement that names the source packages, in
/// one step; if anything fails, OUT stays as it was. Packages that an earlier build recorded in OUT
/// are removed.
///
/// Exit status: 0 promoted, 1 the packages cannot be promoted, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PromoteArgs {
    /// Packages: --output of `rockpack build`, or the `dist` directory in it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Version of the new packages (PEP 440)
    #[arg(long, value_name = "VERSION")]
    pub to: Version,

    /// Targets to keep, separated by `,` or `;` [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub keep_targets: Vec<String>,

    /// Directory for the new packages (OUT/dist)
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath, required_unless_present = "dry_run", value_parser = super::output::path())]
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
