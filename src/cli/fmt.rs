//! The arguments of `rockpack fmt`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Lay out packages.kdl and families.kdl
///
/// Blocks are indented by four spaces, values stand one space apart, and blank lines come one at a
/// time. Comments stay where they are, texts as they are written. A file with a mistake in it is not
/// touched, and what a file says never changes. A file that is laid out stays as it is; another is
/// replaced in one step.
///
/// Exit status: 0 laid out, or it was already, 1 with --check a file is not laid out, or a file is
/// not KDL, 2 something is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// The files; `-` is standard input, laid out on standard output [default: packages.kdl and families.kdl of this directory]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Write nothing; show the first line of each file that is not laid out
    #[arg(long)]
    pub check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  Before a commit:
    rockpack fmt

  In CI:
    rockpack fmt --check

  In an editor, which gives the text and takes it back:
    rockpack fmt - < packages.kdl
";
