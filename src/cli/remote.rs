//! The arguments about a cache that machines share.

use clap::Args;

/// Shared cache and build farm.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shared cache")]
pub struct RemoteArgs {
    /// A shared cache or build farm: a `remote` line of packages.kdl
    #[arg(long, value_name = "NAME", env = "ROCKPACK_REMOTE", hide_env_values = true)]
    pub remote: Option<String>,

    /// Have the farm build whole packages of artifacts in its storage: a directory HASH/SIZE, or `checksums`, the archives of the run by their `.sha256sum` files
    ///
    /// The plan is made of a saved catalog (--catalog). Nothing of the artifacts is read here for packages that the
    /// farm builds. Each package is checked with the plan, as `rockpack wheel verify --plan` does; the bytes of its
    /// files are not compared, as no artifacts are read here. Packages that the farm does not build are built here, of
    /// the artifacts of --artifact-dir or --store.
    #[arg(long, value_name = "DIGEST")]
    pub artifacts_digest: Option<String>,
}
