//! Arguments for reading artifacts from a directory or a store.

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

    /// Do not sign requests, even with credentials in the environment: for a public store
    #[arg(long, help_heading = "Artifacts")]
    pub unsigned: bool,

    #[command(flatten)]
    pub demands: DemandArgs,

    /// Archives to read from a store at a time [default: 10]
    #[arg(long, value_name = "N", env = "ROCKPACK_DOWNLOADS", hide_env_values = true, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Artifacts")]
    pub downloads: Option<u16>,
}

#[derive(Debug, Args)]
pub struct DemandArgs {
    /// Refuse archives without a checksum in a `.sha256sum` file or the lock file [default: a
    /// warning]
    #[arg(long, help_heading = "Artifacts")]
    pub require_checksums: bool,

    /// Lock file with the exact archives: new ones are added, listed ones must not change [default:
    /// none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Artifacts")]
    pub lock: Option<PathBuf>,

    /// Use only archives in the lock file (rockpack.lock without --lock), and do not write it
    #[arg(long, help_heading = "Artifacts")]
    pub locked: bool,
}
