use std::path::PathBuf;

use base::address::Address;
use base::names::{Mode, System};
use clap::{Args, ValueHint};

use super::ArtifactArgs;
use super::foreign::TheirOptions;
use super::set::{list, modes, systems};

/// Fetch the artifacts that packages need from an object store
///
/// The needed archives follow from packages.kdl, the mode, the system and the families. Missing
/// ones are reported before anything is fetched. Each archive is checked with its `.sha256sum`
/// file, and appears in DIR when it is complete. Archives in DIR with a known checksum are kept, so
/// the same command continues after an interruption.
///
/// URL is the address of a run: s3://, gs://, az://, https:// or file://. Credentials are read from
/// the environment, as by each store's tools. `rockpack build --artifact-dir URL` works without a
/// directory for archives. A rockpack built from source needs `cargo build --features stores`.
///
/// Exit status: 0 fetched, 1 an archive is missing or contradicts its checksum, 2 usage or
/// environment error.
#[derive(Debug, Args)]
#[command(after_long_help = FETCH_EXAMPLES)]
pub struct FetchArgs {
    /// Address of a run
    #[arg(value_name = "URL", required_unless_present = "store", conflicts_with = "store")]
    pub url: Option<Address>,

    /// Store of packages.kdl, instead of URL; --run selects the run
    #[arg(long, value_name = "NAME", requires = "run", help_heading = "Artifacts")]
    pub store: Option<String>,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    #[command(flatten)]
    pub theirs: TheirOptions,

    /// Directory for the archives, created if missing
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dry_run", value_parser = super::output::path())]
    pub output: Option<PathBuf>,

    /// Print the archives to fetch, missing and not needed, and fetch nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print this as JSON
    #[arg(long, requires = "dry_run")]
    pub json: bool,

    /// Fetch all archives of the run, also those not needed
    #[arg(long, conflicts_with_all = ["mode", "linux_amdgpu_families", "windows_amdgpu_families"])]
    pub all: bool,

    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Packages")]
    pub manifest: Option<PathBuf>,

    /// Mode: device code split off the libraries (kpack) or not (legacy) [default: the run's]
    #[arg(long, value_parser = modes(), help_heading = "Packages")]
    pub mode: Option<Mode>,

    /// System of the packages, linux or windows [default: linux, or windows if the address says so]
    #[arg(long, value_parser = systems(), hide_possible_values = true, help_heading = "Packages")]
    pub system: Option<System>,

    /// Families or ISAs published for Linux, separated by `,` or `;` [default: all of the run]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub linux_amdgpu_families: Option<String>,

    /// Families or ISAs to fetch for Windows
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub windows_amdgpu_families: Option<String>,
}

impl FetchArgs {
    pub fn families(&self) -> [Option<Vec<String>>; 2] {
        [&self.linux_amdgpu_families, &self.windows_amdgpu_families]
            .map(|text| text.as_deref().and_then(list))
    }
}

const FETCH_EXAMPLES: &str = "\
Examples:
  What packages need of a run, before anything is fetched:
    rockpack artifact fetch --store ci --run 1234567 --dry-run

  Fetch it, lock it, and build of exactly these bytes:
    rockpack artifact fetch --store ci --run 1234567 -o artifacts --lock rockpack.lock
    rockpack build --artifact-dir artifacts -o out --locked

  For one GPU, from any address:
    rockpack artifact fetch s3://example-artifacts/1234567-linux/ -o artifacts --linux-amdgpu-families gfx942
";
