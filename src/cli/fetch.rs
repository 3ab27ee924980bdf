//! The arguments of `rockpack artifact fetch`.

use std::path::PathBuf;

use base::names::{Mode, System};
use clap::{Args, ValueHint};

use super::ArtifactArgs;
use super::set::{list, modes, systems};

/// Fetch the artifacts that packages need from an object store
///
/// Which archives are needed follows from packages.kdl, the mode, the system and the families: archives that
/// no package takes stay where they are. What is missing is told before anything is fetched. Each archive is
/// checked with the `.sha256sum` file beside it and gets its name in DIR once it is whole. Archives that are
/// in DIR already are kept if their checksum is known, so that the same command goes on after an interruption.
///
/// URL is the address of one run: s3://, gs://, az://, https:// or file://. Credentials come from the environment,
/// as the tools of each store have them. `rockpack build --artifact-dir URL` needs no directory for archives:
/// it unpacks them while they come. When you build rockpack from source, enable the feature:
/// `cargo build --features stores`.
///
/// Exit status: 0 fetched, 1 something is missing or is not what its checksum says, 2 something is wrong with
/// the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = FETCH_EXAMPLES)]
pub struct FetchArgs {
    /// The address of a run
    #[arg(value_name = "URL", required_unless_present = "store", conflicts_with = "store")]
    pub url: Option<String>,

    /// A store of packages.kdl, in place of URL; --run says which run
    #[arg(long, value_name = "NAME", requires = "run", help_heading = "Artifacts")]
    pub store: Option<String>,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// Directory for the archives; it is made if it is not there
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// Say what would be fetched, what is missing and what is not needed, and fetch nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Say it as JSON
    #[arg(long, requires = "dry_run")]
    pub json: bool,

    /// Fetch all archives of the run, whatever packages need
    #[arg(long, conflicts_with_all = ["mode", "linux_amdgpu_families", "windows_amdgpu_families"])]
    pub all: bool,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default: this directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Packages")]
    pub manifest: Option<PathBuf>,

    /// Whether the run splits device code off the libraries (kpack) or not (legacy) [default: what fits the run's artifacts]
    #[arg(long, value_parser = modes(), help_heading = "Packages")]
    pub mode: Option<Mode>,

    /// The system that the packages are for, linux or windows [default: linux, or windows where the address says so]
    #[arg(long, value_parser = systems(), hide_possible_values = true, help_heading = "Packages")]
    pub system: Option<System>,

    /// Families or ISAs published for Linux, with `,` or `;` between [default: all of the run]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub linux_amdgpu_families: Option<String>,

    /// The same for Windows
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub windows_amdgpu_families: Option<String>,
}

impl FetchArgs {
    /// The families that are asked for, of Linux and of Windows.
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
