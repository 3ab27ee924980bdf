//! The arguments of `rockpack explain`.

use clap::Args;

use super::{CatalogArgs, SetArgs};

/// Tell what becomes of a path, and why
///
/// Which artifacts have it; what every rule says of it, in the order in which rules are asked,
/// with their lines; where it lands in each package, by which step; why it does not land where
/// it was selected; and of an ELF file, where its libraries are found. Without --mode it tells
/// of both modes, as far as the artifacts can be planned in each.
///
/// Exit status: 0 told, 1 nobody knows the path (near ones are listed), 2 something is wrong
/// with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// A path below the installation's root, one below site-packages, or a glob
    pub path: String,

    #[command(flatten)]
    pub catalog: CatalogArgs,

    #[command(flatten)]
    pub set: SetArgs,

    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  Why is this library in this package, and what does it load?
    rockpack explain lib/libhipblas.so.3 --artifact-dir artifacts

  Where does an installed file come from? (from a saved catalog)
    rockpack explain _rocm_sdk_core/bin/hipcc --catalog catalog.json.zst

  What becomes of all of these?
    rockpack explain 'share/**/*.db' --artifact-dir artifacts
";
