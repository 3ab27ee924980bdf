use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::JobsArgs;

/// Write patches that make new packages from earlier ones, for copies of an index
///
/// For each wheel in NEW and below, takes the newest earlier wheel of the same project and tags in
/// OLD and below. Writes WHEEL.from-HASH.patch beside the new wheel; HASH is the first 16 digits of
/// the earlier wheel's SHA-256. Patches that do not save half of the wheel are left out.
///
/// `rockpack index publish NEW` uploads patches, `rockpack index fetch` takes them, and `zstd -d
/// --long=31 --patch-from=OLD_WHEEL PATCH` applies one. Installers ignore them.
///
/// Exit status: 0 written, 2 error in the command line or the environment.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct DeltaArgs {
    /// Directory with earlier packages
    #[arg(value_name = "OLD", value_hint = ValueHint::DirPath)]
    pub old: PathBuf,

    /// Directory with the new packages
    #[arg(value_name = "NEW", value_hint = ValueHint::DirPath)]
    pub new: PathBuf,

    #[command(flatten)]
    pub jobs: JobsArgs,
}

const EXAMPLES: &str = "\
Examples:
  Tonight's packages, with patches for those who have last night's:
    rockpack index delta last/dist out/dist
    rockpack index publish out/dist s3://nightly
";
