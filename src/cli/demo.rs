//! The arguments of `rockpack demo`.

use std::path::PathBuf;

use base::names::{Mode, System};
use clap::{Args, ValueHint};

/// Make a small artifact directory to try rockpack on
///
/// Its libraries are small real ELF files, its programs this machine's `true`; for Windows all are small PE files. The packages of the
/// built-in manifest find all they need in it, so every command works on it: plan, build, explain,
/// diff. A directory with other files in it is left alone.
#[derive(Debug, Args)]
#[command(after_long_help = DEMO_EXAMPLES)]
pub struct DemoArgs {
    /// The directory to make
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// The system that it is built for, linux or windows
    #[arg(long, default_value = "linux", value_parser = super::set::systems(), hide_possible_values = true)]
    pub system: System,

    /// How its device code is split
    #[arg(long, default_value = "kpack", value_parser = super::set::modes())]
    pub mode: Mode,
}

const DEMO_EXAMPLES: &str = "\
Examples:
  Make packages of it:
    rockpack demo demo
    rockpack build --artifact-dir demo --dest-dir out
";
