use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{ArtifactArgs, CatalogArgs, ContractArgs, DenyArgs, SetArgs, SinceArgs};

/// Show the packages that a build would make, without writing a byte
///
/// Compiles manifest and artifacts into the plan of `rockpack build`. Prints a line for each
/// package: files, installed bytes, and the numbers of files that are copied, relinked (copied with
/// another rpath), made as stubs, aliases or links, and absent. Equal inputs print equal text.
///
/// Exit status: 0 printed, 1 error in the manifest or the artifacts, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub catalog: CatalogArgs,

    #[command(flatten)]
    pub since: SinceArgs,

    #[command(flatten)]
    pub set: SetArgs,

    #[command(flatten)]
    pub deny: DenyArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// Ignored: the command line of a build works for its plan
    #[arg(short, long, alias = "dest-dir", hide = true, value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,

    /// Estimate the compressed size of each package from a sample of its bytes
    #[arg(long, conflicts_with = "catalog")]
    pub estimate: bool,

    /// Form of the plan
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        conflicts_with = "contract",
        help_heading = "Output"
    )]
    format: PlanFormat,

    /// The same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub contract: ContractArgs,

    /// Maximum number of jobs of --format shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), required_if_eq("format", "shards"), requires = "format", conflicts_with = "sources", help_heading = "Output")]
    shards: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PlanFormat {
    /// A line for each package
    #[default]
    Text,
    /// A line for each file: step, size, path, the rule that placed it, and its source
    Files,
    /// The whole plan, in the format of schema/plan-1.schema.json
    Json,
    /// A summary in GitHub's Markdown, for a job summary or a comment: always below 64 kB
    Markdown,
    /// A web page with a map of sizes and a search of every file, without external resources
    Html,
    /// JSON for GitHub's `fromJSON` in a matrix: packages divided among jobs of about equal
    /// duration. Each object in `include` is a job, with its packages (`only`), seconds on one core
    /// (`cost`) and artifacts (`archives`). Projects are not included
    Shards,
}

impl PlanArgs {
    /// # Errors
    /// Fails if shards are given for another form.
    pub fn format(&self) -> Result<(PlanFormat, u16), &'static str> {
        match (self.format, self.shards) {
            (PlanFormat::Shards, shards) => Ok((PlanFormat::Shards, shards.unwrap_or(1))),
            (_, Some(_)) => Err("--shards is for --format shards"),
            (PlanFormat::Text, None) if self.json => Ok((PlanFormat::Json, 1)),
            (format, None) => Ok((format, 1)),
        }
    }
}

const PLAN_EXAMPLES: &str = "\
Examples:
  A line for each package:
    rockpack plan --artifact-dir artifacts

  Every file with its rule, to compare two versions of packages.kdl:
    rockpack plan --artifact-dir artifacts --format files > plan.txt

  The same on a machine without the artifacts, from a saved catalog:
    rockpack artifact scan --artifact-dir artifacts -o catalog.json.zst
    rockpack plan --catalog catalog.json.zst

  The jobs of a matrix, to be united by `rockpack merge`:
    rockpack plan --catalog catalog.json.zst --version 7.2.0 --format shards --shards 4

  Everything that users can rely on, as a file for `git diff`:
    rockpack plan --catalog catalog.json.zst --contract contract.txt

  On the summary of a GitHub job, and as a page to look around in:
    rockpack plan --artifact-dir artifacts --format markdown >> \"$GITHUB_STEP_SUMMARY\"
    rockpack plan --artifact-dir artifacts --format html > plan.html
";
