use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Format packages.kdl, families.kdl and the files that they include
///
/// Sets indentation, spaces and blank lines. Comments, texts and the meaning stay. Files with a
/// syntax error are not changed; others are replaced in one step.
///
/// Exit status: 0 formatted, 1 a file is not KDL, or with --check not formatted, 2 usage or
/// environment error.
#[derive(Debug, Args)]
#[command(after_long_help = FMT_EXAMPLES)]
pub struct FmtArgs {
    /// Files; `-` formats standard input to standard output [default: all files of the manifest]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Directory of the manifest, without FILE [default: the current directory]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

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
