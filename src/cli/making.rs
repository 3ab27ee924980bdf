//! Arguments of `wheel promote` and `wheel split`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{AllowArgs, JobsArgs};

#[derive(Debug, Args)]
pub struct MakingArgs {
    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub threads: JobsArgs,

    #[command(flatten)]
    pub allow: AllowArgs,
}
