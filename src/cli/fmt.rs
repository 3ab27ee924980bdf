//! The arguments of `rockpack fmt`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Format packages.kdl and families.kdl
///
/// Indents blocks by four spaces, puts one space between values, and keeps at most one blank line.
/// Comments and texts stay as they are, and the meaning of a file never changes. A file with a
/// syntax error is not touched. A file that is already formatted is not written; others are replaced
/// in one step.
///
/// Exit status: 0 formatted, 1 with --check a file is not formatted, or a file is not KDL, 2 something is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// The files; `-` formats standard input to standard output [default: packages.kdl and families.kdl of this directory]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Write nothing; show the first line of each file that is not formatted
    #[arg(long)]
    pub check: bool,
}

const FMT_EXAMPLES: &str = "\
Examples:
  Before a commit:
    rockpack fmt

  In CI:
    rockpack fmt --check

  As the formatter of an editor:
    rockpack fmt - < packages.kdl
";
