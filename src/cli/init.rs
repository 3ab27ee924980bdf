use std::path::PathBuf;

use base::names::{Mode, System};
use clap::{Args, ValueHint};

/// Write a manifest to start from, or artifacts to try rockpack on
///
/// Writes packages.kdl and families.kdl into a directory that has neither. They include the
/// built-in manifest and contain only changes to it: a later rockpack updates the rest.
///
/// With --projects, writes one file: a node for each pyproject.toml or setup.py.
///
/// With --demo, makes a small artifact directory for all packages of the built-in manifest, to try
/// plan, build, explain and diff. Its libraries are real ELF files, its programs this machine's
/// `true`; for Windows, all are PE files. A directory with other files is not changed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InitArgs {
    /// Directory, created if missing
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Start without ROCm: one package, the C library's names, no ISA
    #[arg(long)]
    pub minimal: bool,

    /// Write a packages.kdl for the Python projects in this checkout, or in the checkouts below this
    /// directory
    #[arg(long, value_name = "SOURCES", conflicts_with_all = ["minimal", "demo"], value_hint = ValueHint::DirPath)]
    pub projects: Option<PathBuf>,

    /// Make a small artifact directory instead of a manifest
    #[arg(long, conflicts_with = "minimal")]
    pub demo: bool,

    /// System of the --demo artifacts, linux or windows
    #[arg(long, default_value = "linux", value_parser = super::set::systems(), hide_possible_values = true, requires = "demo")]
    pub system: System,

    /// Mode of the --demo artifacts: device code split off the libraries (kpack) or not (legacy)
    #[arg(long, default_value = "kpack", value_parser = super::set::modes(), requires = "demo")]
    pub mode: Mode,
}

const EXAMPLES: &str = "\
Examples:
  A fork of ROCm's packages that changes ten lines:
    rockpack init packaging
    rockpack check --manifest packaging
  Packages of another project:
    rockpack init --minimal
  Python projects in the checkout ../wave, to build against an installed ROCm:
    rockpack init --projects ../wave
    rockpack build --rocm-path /opt/rocm --sources .. -o out
  A small artifact directory, and packages of it:
    rockpack init --demo demo
    rockpack build --artifact-dir demo -o out
";
