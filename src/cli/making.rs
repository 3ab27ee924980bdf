//! The arguments of commands that make packages out of packages.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{AllowArgs, JobsArgs};

/// What says how they are made, and who made them.
#[derive(Debug, Args)]
pub struct MakingArgs {
    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default:
    /// this directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub threads: JobsArgs,

    #[command(flatten)]
    pub allow: AllowArgs,
}
