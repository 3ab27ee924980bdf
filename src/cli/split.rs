//! The arguments of `rockpack wheel split`.

use std::path::PathBuf;

use base::version::Version;
use clap::{Args, ValueHint};

use super::MakingArgs;

/// Split finished wheels into a host wheel and one for each ISA
///
/// The `wheel` lines of packages.kdl that have `device-by` say how: which files go into the wheel of the
/// ISA, or of the level, that their path names, what these wheels are called, and what they require. The
/// rest stays in the host wheel, which gets the extras device-ISA and device-all. Each wheel for an ISA
/// requires the host wheel in exactly its version, and the wheels of the levels above it.
///
/// Members are copied as they are stored: nothing is unpacked and compressed again. A file that names an
/// ISA and that no line takes is an error, and so is one that has code for another ISA than its path
/// names. Programs and libraries with code for ISAs inside stay whole, and are listed. Where the line says
/// `bundle`, their code goes into archives (.kpack) in the wheels of the ISAs instead.
///
/// A wheel that `rockpack wheel verify` refuses by itself is refused, unless --allow names the finding's code.
///
/// The wheels go to OUT/dist, with SHA256SUMS and a provenance statement that names the wheels they are
/// made of. They are put in place in one step; when anything fails, OUT stays as it was. Packages that an
/// earlier run recorded in OUT are removed.
///
/// Exit status: 0 split, 1 the wheels cannot be split, 2 something is wrong with the command line or the
/// environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SplitArgs {
    /// The wheels
    #[arg(value_name = "WHEEL", required = true, value_hint = ValueHint::FilePath)]
    pub wheels: Vec<PathBuf>,

    /// The version of the packages that the wheels were built against (PEP 440), for `{version}` in
    /// requirements [default: none]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<Version>,

    /// Directory with these packages: what it does not have is not required [default: what is for an ISA
    /// is required]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub beside: Option<PathBuf>,

    /// Directory for the new wheels (OUT/dist)
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath, required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// Print what would go where, and write nothing
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
