//! Arguments of `rockpack wheel repack`.

use std::path::PathBuf;

use base::names::Compression;
use clap::{Args, ValueHint};

use super::AllowArgs;
use super::set::levels;

/// Compress the members of finished wheels again
///
/// Writes each wheel under its name into another directory, with all members but RECORD stored or
/// deflated at the given level. Names, contents, modes, times and the rows of RECORD stay. The
/// metadata directory and RECORD are the last members, as in wheels that rockpack builds.
/// Signatures of RECORD are left out, with a note.
///
/// Nothing is overwritten: an existing file is an error, unless it has exactly these bytes. If one
/// wheel is refused, none is written. A wheel that `rockpack wheel verify` alone refuses is
/// refused, unless --allow names the finding's code.
///
/// SHA256SUMS and the provenance statement of the wheels are not copied: `rockpack merge` writes
/// both for a directory of finished packages.
///
/// Exit status: 0 written or already written, 1 a wheel was refused, 2 an error in the command line
/// or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RepackArgs {
    /// Wheels, and directories of wheels
    #[arg(value_name = "WHEEL", required = true, value_hint = ValueHint::AnyPath)]
    pub wheels: Vec<PathBuf>,

    /// Compression of the members: store (none), fast, default or max
    #[arg(long, value_name = "LEVEL", value_parser = levels(), hide_possible_values = true)]
    pub compression: Compression,

    /// Directory for the new wheels
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy;
    /// their `ignore` lines accept findings [default: this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub allow: AllowArgs,
}

const EXAMPLES: &str = "\
Examples:
  Wheels that a quick build stored, as small as they get:
    rockpack wheel repack --compression max -o publish out/dist
";
