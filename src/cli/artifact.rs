//! The arguments of `rockpack artifact pack`.

use std::path::PathBuf;

use base::names::Family;
use clap::{Args, ValueHint};

use super::JobsArgs;

/// Pack artifact directories into archives, each with its checksum
///
/// Writes {name}_{component}_{family}.tar.zst and .tar.zst.sha256sum into OUT: what a build's CI
/// leaves in a store, and what --artifact-dir and `rockpack artifact fetch` take. An archive has
/// `artifact_manifest.txt` first, then the base directories that it lists.
///
/// Archives are seekable: zstd frames of 4 MiB each, with a table of them behind, in zstd's own
/// seekable format. Whatever unpacks .tar.zst unpacks them, as `tar --zstd` does. All cores pack,
/// and equal artifacts give equal bytes: no owner, no time and no order of the disk gets into them.
///
/// Each archive appears when it is whole. One that is in OUT already is replaced.
///
/// Exit status: 0 packed, 1 an artifact cannot be read, 2 something is wrong with the command line
/// or the environment.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PackArgs {
    /// The artifact directory, or one artifact of it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// The directory for the archives; it is made if it is not there
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Only artifacts of this family, such as generic or gfx942; may be repeated, and have `,` between
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
