//! Arguments of `wheel promote` and `wheel split`.

use std::path::PathBuf;

use build::provenance::BuilderId;
use clap::{Args, ValueHint};

use super::{AllowArgs, JobsArgs};

#[derive(Debug, Args)]
pub struct MakingArgs {
    /// Directory of the manifest, or `built-in` for the program's own [default: this directory,
    /// else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Builder that the provenance statement names, a URI [default: none]
    #[arg(long, value_name = "URI")]
    pub builder_id: Option<BuilderId>,

    /// Run of the builder that the statement names [default: none]
    #[arg(long, value_name = "ID")]
    pub invocation_id: Option<String>,

    #[command(flatten)]
    pub threads: JobsArgs,

    #[command(flatten)]
    pub allow: AllowArgs,
}
