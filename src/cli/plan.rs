//! The arguments of `rockpack plan`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{ArtifactArgs, CatalogArgs, SetArgs};

/// Show the packages that a build would make, without writing a byte
///
/// Compiles packages.kdl, families.kdl and the artifact directory into the plan that `rockpack
/// build` executes, and prints a line for each package: files, installed bytes, and how many
/// files are copied, relinked (copied with another rpath), made as stubs, aliases or links,
/// and absent. Equal inputs print equal text.
///
/// Exit status: 0 printed, 1 something is wrong with the manifest or the artifacts, 2 something
/// is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line; those of one form exclude each other"
)]
#[command(after_long_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub catalog: CatalogArgs,

    #[command(flatten)]
    pub set: SetArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// Accepted so that the command line of a build works for its plan; nothing is written there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dest_dir: Option<PathBuf>,

    /// Estimate the compressed size of each package from a sample of the artifacts' bytes
    #[arg(long, conflicts_with = "catalog")]
    pub estimate: bool,

    /// List every file: step, size, path, the rule that placed it, and its source
    #[arg(long, group = "form")]
    pub files: bool,

    /// Print the whole plan as JSON, as schema/plan-1.schema.json describes it
    #[arg(long, group = "form")]
    pub json: bool,

    /// Divide the packages among at most N jobs of a matrix, each about as long as the others
    ///
    /// Prints one line of JSON, as GitHub's `fromJSON` takes it for a matrix. Each object in `include` is a job:
    /// `only` has its packages, `cost` about how many seconds one core takes for them, and `archives` the
    /// artifacts that they are made of. Projects are not among them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), group = "form", conflicts_with = "sources")]
    pub shards: Option<u16>,

    /// Print a summary in GitHub's Markdown, for a job summary or a comment: always below 64 kB
    #[arg(long, group = "form")]
    pub markdown: bool,

    /// Print a web page with a map of sizes and a search of every file: one file, for any browser,
    /// that loads nothing from elsewhere
    #[arg(long, group = "form")]
    pub html: bool,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  A line for each package:
    rockpack plan --artifact-dir artifacts

  Every file with its rule, to compare two versions of packages.kdl:
    rockpack plan --artifact-dir artifacts --files > plan.txt

  The same on a machine without the artifacts, from a saved catalog:
    rockpack artifact scan --artifact-dir artifacts -o catalog.json.zst
    rockpack plan --catalog catalog.json.zst

  The jobs of a matrix, to be united by `rockpack merge`:
    rockpack plan --catalog catalog.json.zst --version 7.2.0 --shards 4

  On the summary of a GitHub job, and as a page to look around in:
    rockpack plan --artifact-dir artifacts --markdown >> \"$GITHUB_STEP_SUMMARY\"
    rockpack plan --artifact-dir artifacts --html > plan.html
";
