use std::path::PathBuf;

use clap::{Args, ValueHint};
use record::provenance::Commit;

use super::AllowArgs;

/// Unite the packages that several builds made of one plan
///
/// Unites packages by `rockpack build --only` from the same artifacts: every package once, one
/// SHA256SUMS, and the provenance of all. Jobs with another builder or run get separate statements:
/// provenance.2.intoto.json and so on. Packages are compared with their checksums, and linked if
/// possible, or copied. Files behind a link, files that no statement names, and packages that no
/// record names are refused.
///
/// Packages of different manifests, options, artifacts, plans or commits of rockpack are refused
/// with the first difference. So are two different files with one name. With --plan, the packages
/// must be exactly the plan's. After a refusal, nothing is written. As with `rockpack build`,
/// earlier packages in OUT/dist are removed if no directory has them; those of other nights that the
/// packages require stay.
///
/// Each package must pass `rockpack wheel verify` on its own; --allow accepts findings.
///
/// --source-commit is for files of other programs, such as a release. Every file is listed in
/// SHA256SUMS, and the provenance names the commit as their source, unchecked.
///
/// Exit status: 0 united, 1 the directories do not belong together or a package was changed, 2
/// usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Outputs of builds: their --output, or the dist directory in it
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    pub dirs: Vec<PathBuf>,

    /// Directory for the packages (OUT/dist)
    #[arg(short, long, alias = "dest-dir", value_name = "OUT", value_hint = ValueHint::DirPath, value_parser = super::output::path())]
    pub output: PathBuf,

    /// Plan by `rockpack plan --json`: a missing package is an error
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "source_commit")]
    pub plan: Option<PathBuf>,

    /// Full hash of the git commit that the files were made from
    #[arg(long, value_name = "COMMIT", value_hint = ValueHint::Other, help_heading = "Finished files")]
    pub source_commit: Option<Commit>,

    /// Directory of the manifest, or `built-in` for the program's own; its `ignore` lines accept
    /// findings [default: the current directory, else built-in]
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
