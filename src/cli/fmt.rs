//! Arguments of `rockpack fmt`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Format packages.kdl and families.kdl
///
/// Indents blocks by four spaces, puts one space between values, and keeps at most one blank line.
/// Comments, texts and the meaning of a file never change. A file with a syntax error is not
/// touched. Files that are already formatted are not written; others are replaced in one step.
///
/// Exit status: 0 formatted, 1 with --check a file is not formatted, or a file is not KDL, 2 an
/// error in the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// Files; `-` formats standard input to standard output [default: packages.kdl and families.kdl
    /// of this directory]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Write nothing; show the first unformatted line of each file
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
