//! The arguments about a run of a store, and about lock files.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Run of a store, and lock file. Other facts of a store are in its line of the manifest.
#[derive(Debug, Args)]
pub struct ArtifactArgs {
    /// The run whose artifacts --store has
    #[arg(long, value_name = "ID", requires = "store", help_heading = "Artifacts")]
    pub run: Option<String>,

    /// Another repository whose run it is, as `owner-name`, where the store has several
    #[arg(long, value_name = "NAME", requires = "store", help_heading = "Artifacts")]
    pub external: Option<String>,

    #[command(flatten)]
    pub demands: DemandArgs,
}

/// Lock file of archives.
#[derive(Debug, Args)]
pub struct DemandArgs {
    /// File that says which archives are taken, byte for byte; it is written, and what it has must not change [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Artifacts")]
    pub lock: Option<PathBuf>,

    /// Take only archives that the lock file has, and don't write it: --lock names it, else it is rockpack.lock in this directory
    #[arg(long, help_heading = "Artifacts")]
    pub locked: bool,
}
