use clap::Args;

#[derive(Debug, Args)]
pub struct DenyArgs {
    /// Make every warning an error, except those about caches and those that the manifest expects
    #[arg(long, help_heading = "Running")]
    pub deny_warnings: bool,
}
