use clap::Args;

use super::{ArtifactArgs, CatalogArgs, SetArgs};

/// Explain which package ships a path, and why
///
/// Prints the artifacts with the path, every rule about it in order of application, its place and
/// step in each package, the reason if a package selects it but does not ship it, and the places of
/// an ELF file's libraries. Without --mode, explains both modes as far as possible.
///
/// Exit status: 0 explained, 1 unknown path (similar ones are listed), 2 usage or environment
/// error.
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// Path below the installation's root or below site-packages, or a glob
    pub path: String,

    #[command(flatten)]
    pub catalog: CatalogArgs,

    #[command(flatten)]
    pub set: SetArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

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

  Where do all these files go?
    rockpack explain 'share/**/*.db' --artifact-dir artifacts
";
