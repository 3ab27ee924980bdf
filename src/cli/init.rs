//! The arguments of `rockpack init`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Write a manifest to start from
///
/// Writes packages.kdl and families.kdl into a directory that has neither. They include the manifest
/// that the program carries, and hold what is changed of it: a later rockpack brings its own news to
/// everything else.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InitArgs {
    /// The directory; it is made if it does not exist
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Start without ROCm: one package, the C library's names, no ISA
    #[arg(long)]
    pub minimal: bool,
}

const EXAMPLES: &str = "\
Examples:
  A fork of ROCm's packages that changes ten lines:
    rockpack init packaging
    rockpack check --manifest packaging
  Packages of another project:
    rockpack init --minimal
";
