//! Option that limits threads.

use clap::Args;

#[derive(Debug, Args)]
pub struct JobsArgs {
    /// Threads [default: one for each core]
    #[arg(short, long, value_name = "N", env = "ROCKPACK_JOBS", hide_env_values = true, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running")]
    pub jobs: Option<u16>,
}
