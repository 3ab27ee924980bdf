use std::path::PathBuf;

use base::names::Compression;
use clap::{Args, ValueHint};

use super::AllowArgs;
use super::set::levels;

/// Compress the members of finished wheels again
///
/// Writes each wheel under its name into another directory, with all members but RECORD stored or
/// deflated at the given level. Names, contents, modes, times and rows of RECORD stay; the metadata
/// directory and RECORD are last. Signatures of RECORD are removed, with a note.
///
/// An existing file with other bytes is an error. Each wheel must pass `rockpack wheel verify`
/// on its own; --allow accepts findings. If one is refused, none is written.
///
/// SHA256SUMS and provenance are not updated: with -o, `rockpack merge DIR --source-commit COMMIT`
/// writes them for the new wheels.
///
/// Exit status: 0 written, 1 a wheel was refused, 2 usage or environment error.
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
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = super::output::path())]
    pub output: PathBuf,

    /// Directory of the manifest, or `built-in` for the program's own; its `ignore` lines accept
    /// findings [default: the current directory, else built-in]
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
