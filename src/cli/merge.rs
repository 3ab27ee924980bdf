//! The arguments of `rockpack merge`.

use std::path::PathBuf;

use build::provenance::Commit;
use clap::{Args, ValueHint};

use super::AllowArgs;

/// Unite the packages that several builds made of one plan
///
/// Takes packages that jobs built with `rockpack build --only` out of one set of artifacts, and puts
/// them into one directory: every package once, one SHA256SUMS, and the provenance of all. Jobs that
/// differ in the builder or its run alone get provenance statements of their own:
/// provenance.2.intoto.json and so on. Packages are linked where the file system can, else copied.
/// Each is compared with its checksum. A file that no provenance statement names is refused, and so is one
/// behind a link.
///
/// Packages of different manifests, options, artifacts, plans or commits of rockpack are refused: the
/// error names the first difference, the directories and both values. So are two different files of one
/// name. With --plan, the packages must be of that plan, and all of them must be there.
/// When something is refused, nothing is written. As with `rockpack build`, earlier packages in OUT/dist are removed when none of
/// the directories has them.
///
/// A package that `rockpack wheel verify` refuses by itself is refused, unless --allow names the finding's code.
///
/// --source-commit is for finished files that other programs made, such as those of a release. Every
/// file is taken and listed in SHA256SUMS, and the provenance names the commit as their source.
/// rockpack cannot check that: whoever gives the commit answers for it.
///
/// Exit status: 0 united, 1 the directories do not belong together or a package was changed,
/// 2 something is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Outputs of builds: their --output, or the dist directory in it
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    pub dirs: Vec<PathBuf>,

    /// Directory for the packages (OUT/dist)
    #[arg(short, long, alias = "dest-dir", value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// A file with the plan of all packages, as `rockpack plan --json` prints it: a package that is missing is an error
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "source_commit")]
    pub plan: Option<PathBuf>,

    /// The git commit that the files were made from, as its whole name
    #[arg(long, value_name = "COMMIT", value_hint = ValueHint::Other, help_heading = "Finished files")]
    pub source_commit: Option<Commit>,

    /// Directory with packages.kdl and families.kdl, whose `ignore` lines accept findings, or `built-in` for the
    /// program's own copy [default: this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub allow: AllowArgs,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  Packages that three jobs of a matrix built and uploaded:
    rockpack merge jobs/core jobs/libraries jobs/device --plan plan.json -o out
    rockpack wheel verify out/dist --plan plan.json

  The files of a release, made by other programs:
    rockpack merge files -o release --source-commit 5a1c3b7e9d2f4a6c8e0b1d3f5a7c9e2b4d6f8a0c
";
