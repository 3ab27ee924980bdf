use clap::Args;

/// Shared cache and build farm.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shared cache")]
pub struct RemoteArgs {
    /// Shared cache or build farm, by the name of a `remote` line in packages.kdl
    #[arg(long, value_name = "NAME", env = "ROCKPACK_REMOTE", hide_env_values = true)]
    pub remote: Option<String>,

    /// Have the farm build whole packages from artifacts in its storage: the directory HASH/SIZE, or `checksums` for the archives of the run, by their `.sha256sum` files
    ///
    /// Needs a saved catalog (--catalog) for the plan. Artifacts of packages that the farm builds
    /// are not read here. Each received package is checked with the plan, as by `rockpack wheel
    /// verify --plan`; contents of its files cannot be compared. Other packages are built here,
    /// from --artifact-dir or --store.
    #[arg(long, value_name = "DIGEST")]
    pub artifacts_digest: Option<String>,
}
