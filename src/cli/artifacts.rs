//! The arguments that say how artifacts are taken from where they are.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// How artifacts are taken: which run of a store, and what is demanded of archives.
#[derive(Debug, Args)]
pub struct ArtifactArgs {
    /// The run whose artifacts --store has
    #[arg(long, value_name = "ID", requires = "store", help_heading = "Artifacts")]
    pub run: Option<String>,

    /// Another repository whose run it is, as `owner-name`, where the store has several
    #[arg(long, value_name = "NAME", requires = "store", help_heading = "Artifacts")]
    pub external: Option<String>,

    /// Do not sign requests, whatever credentials the environment has: the store is public
    #[arg(long, help_heading = "Artifacts")]
    pub unsigned: bool,

    #[command(flatten)]
    pub demands: DemandArgs,

    /// Archives that are read from a store at a time [default: 10]
    #[arg(long, value_name = "N", env = "ROCKPACK_DOWNLOADS", hide_env_values = true, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Artifacts")]
    pub downloads: Option<u16>,
}

/// What is demanded of archives before anything of them is used.
#[derive(Debug, Args)]
pub struct DemandArgs {
    /// Refuse archives without a checksum, in a `.sha256sum` file beside them or in the lock file [default: a warning]
    #[arg(long, help_heading = "Artifacts")]
    pub require_checksums: bool,

    /// File that says which archives are taken, byte for byte; it is written, and what it has must not change [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Artifacts")]
    pub lock: Option<PathBuf>,

    /// Take only archives that the lock file has, and don't write it: --lock names it, else it is rockpack.lock in this directory
    #[arg(long, help_heading = "Artifacts")]
    pub locked: bool,
}
