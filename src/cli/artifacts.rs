use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub struct ArtifactArgs {
    /// Run of --store that made the artifacts
    #[arg(long, value_name = "ID", requires = "store", help_heading = "Artifacts")]
    pub run: Option<String>,

    /// Other repository of the run, as `owner-name`
    #[arg(long, value_name = "NAME", requires = "store", help_heading = "Artifacts")]
    pub external: Option<String>,

    #[command(flatten)]
    pub demands: DemandArgs,
}

/// Lock file of archives.
#[derive(Debug, Args)]
pub struct DemandArgs {
    /// Lock file with the exact archives: new ones are added, listed ones must not change [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Artifacts")]
    pub lock: Option<PathBuf>,

    /// Use only archives in the lock file (rockpack.lock without --lock), and do not write it; for
    /// projects, only the requirements in --requirements
    #[arg(long, help_heading = "Artifacts")]
    pub locked: bool,
}
