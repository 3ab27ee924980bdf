use std::path::PathBuf;

use base::names::Family;
use clap::{Args, ValueHint};

use super::JobsArgs;

/// Pack artifact directories into archives, each with its checksum
///
/// Writes {name}_{component}_{family}.tar.zst and .tar.zst.sha256sum into OUT, for --artifact-dir
/// and `rockpack artifact fetch`. Archives are seekable zstd (frames of 4 MiB, with a table); `tar
/// --zstd` unpacks them. Equal artifacts give equal bytes, without owners, times and the disk's
/// order.
///
/// Each archive appears when it is complete, and replaces an earlier one.
///
/// Exit status: 0 packed, 1 an artifact cannot be read, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PackArgs {
    /// Artifact directory, or one artifact of it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Directory for the archives, created if missing
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath, value_parser = super::output::path())]
    pub output: PathBuf,

    /// Only artifacts of these families, such as generic or gfx942; separated by `,` or repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub family: Vec<Family>,

    /// Level of zstd, from 1 (fast) to 19 (small)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..=19))]
    pub level: i32,

    #[command(flatten)]
    pub threads: JobsArgs,
}

const EXAMPLES: &str = "\
Examples:
  Pack all artifacts, and build packages of the archives:
    rockpack artifact pack build/artifacts -o archives
    rockpack build --artifact-dir archives -o out

  One artifact, as small as is of use:
    rockpack artifact pack build/artifacts/base_lib_generic -o archives --level 15
";
