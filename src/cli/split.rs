use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

use super::MakingArgs;

/// Split finished wheels into a host wheel and one for each ISA
///
/// The `wheel` lines of packages.kdl with `device-by` select files for the wheel of the ISA, or
/// level, in their path, and set names and requirements of these wheels, which also require the
/// host wheel in exactly its version, and the levels above. Other files stay in the host wheel,
/// which gets the extras device-ISA and device-all.
///
/// Members are copied without new compression. A file that names an ISA and that no line takes is
/// an error, and so is a file with code for another ISA than its path names. Programs and libraries
/// with code for ISAs stay whole, and are listed; with `bundle` in the line, their code is moved
/// into archives (.kpack) in the wheels of the ISAs.
///
/// Each wheel must pass `rockpack wheel verify` on its own; --allow accepts findings. Writes OUT/dist
/// with SHA256SUMS and a provenance statement that names the source wheels, in one step; if
/// anything fails, OUT stays as it was. Packages that an earlier run recorded in OUT are removed.
///
/// Exit status: 0 split, 1 the wheels cannot be split, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SplitArgs {
    /// Wheels to split
    #[arg(value_name = "WHEEL", required = true, value_hint = ValueHint::FilePath)]
    pub wheels: Vec<PathBuf>,

    /// Version of the packages that the wheels were built against (PEP 440), for `{version}` in
    /// requirements [default: none]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<Version>,

    /// Directory with these packages: others are not required [default: packages for an ISA are
    /// required]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub beside: Option<PathBuf>,

    /// Directory for the new wheels (OUT/dist)
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath, required_unless_present = "dry_run", value_parser = super::output::path())]
    pub output: Option<PathBuf>,

    /// Make and check the new wheels in a temporary directory, print their contents, and keep nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub making: MakingArgs,
}

const EXAMPLES: &str = "\
Examples:
  See first what would go where:
    rockpack wheel split torch-2.10.0+rocm7.14.0-cp312-cp312-linux_x86_64.whl --version 7.14.0 --dry-run
  Split it, and require only device packages that are there:
    rockpack wheel split torch-2.10.0+rocm7.14.0-cp312-cp312-linux_x86_64.whl --version 7.14.0 \\
      --beside rocm/dist -o torch
";
