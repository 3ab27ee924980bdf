//! The arguments of `rockpack plan`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{CatalogArgs, SetArgs};

/// Show what a build would make, without writing a byte
///
/// Compiles packages.kdl, families.kdl and the artifact directory into the plan that `rockpack
/// build` executes, and prints a line for each package: files, installed bytes, and how many
/// files are copied, relinked (copied with another rpath), made as stubs, aliases or links,
/// and absent. Equal inputs print equal text.
///
/// Exit status: 0 printed, 1 something is wrong with the manifest or the artifacts, 2 something
/// is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub catalog: CatalogArgs,

    #[command(flatten)]
    pub set: SetArgs,

    /// Taken so that a build's command line serves for its plan too; nothing is written there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dest_dir: Option<PathBuf>,

    /// List every file: step, size, path, the rule that placed it, and its source
    #[arg(long)]
    pub files: bool,

    /// Print the whole plan as JSON, as schema/plan-1.schema.json describes it
    #[arg(long, conflicts_with = "files")]
    pub json: bool,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  What would be built, by package:
    rockpack plan --artifact-dir artifacts

  Where every file goes and why, to compare two versions of packages.kdl:
    rockpack plan --artifact-dir artifacts --files > plan.txt

  The same on a machine without the artifacts, from what was saved of them:
    rockpack scan --artifact-dir artifacts -o catalog.json.zst
    rockpack plan --catalog catalog.json.zst
";
