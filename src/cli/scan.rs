use std::path::PathBuf;

use base::names::System;
use clap::{Args, ValueHint};

use super::set::systems;
use super::{ArtifactArgs, JobsArgs};

/// Save the catalog of an artifact directory, to plan without the artifacts
///
/// The catalog has path, size and type of every file, facts from ELF headers, and the SHA-256 of
/// files that several artifacts install at one path; no contents, and nothing of this machine. It
/// is JSON with a line for each entry. `rockpack plan --catalog FILE` prints the same as for the
/// directory.
#[derive(Debug, Args)]
#[command(after_long_help = SCAN_EXAMPLES)]
pub struct ScanArgs {
    /// Directory of artifacts or archives {name}_{component}_{family}, or address of archives in a
    /// store (s3://, gs://, az://, https://, file://)
    #[arg(long, value_name = "DIR_OR_URL", value_hint = ValueHint::DirPath, required_unless_present = "store")]
    pub artifact_dir: Option<PathBuf>,

    /// Store by the name of a `store` line in packages.kdl, instead of --artifact-dir; --run selects the run
    #[arg(long, value_name = "NAME", requires = "run", conflicts_with = "artifact_dir")]
    pub store: Option<String>,

    /// File for the catalog, compressed if FILE ends in .zst or .xz [default: print it]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = super::output::path())]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub threads: JobsArgs,

    /// Print base directories that artifacts list but do not have
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// System of the run, linux or windows, if --store has both [default: linux]
    #[arg(long, value_parser = systems(), hide_possible_values = true, requires = "store", help_heading = "Artifacts")]
    pub system: Option<System>,

    /// Directory with packages.kdl, which declares --store, or `built-in` [default: the current
    /// directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Artifacts")]
    pub manifest: Option<PathBuf>,
}

const SCAN_EXAMPLES: &str = "\
Examples:
  Save a build's catalog, and review its packages on a laptop:
    rockpack artifact scan --artifact-dir artifacts -o catalog.json.zst
    rockpack plan --catalog catalog.json.zst --format files

  Compare two builds:
    rockpack artifact scan --artifact-dir before > before.json
    rockpack artifact scan --artifact-dir after > after.json
    diff before.json after.json
";
