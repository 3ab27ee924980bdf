//! The arguments of `rockpack assemble`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use rockpack::provenance::{BuilderId, Commit};

/// Unite the packages that several builds made of one plan
///
/// Takes what jobs built with `rockpack build --only` out of one set of artifacts and puts it into one
/// directory: every package once, one SHA256SUMS, and provenance of all. Jobs that were given the
/// same parameters share one statement; where they were not, provenance.2.intoto.json and so on tell
/// of the others. Packages are linked where the file system can, else copied, and each is compared
/// with its checksum.
///
/// Two different files of one name are refused, and packages of different versions, modes or
/// platform tags. Earlier packages in DEST/dist that none of the directories has are removed, as by
/// `rockpack build`.
///
/// With --source-commit the directories have finished files that no build of rockpack made, such as
/// those of a release: every file is taken, listed in SHA256SUMS and told of in the provenance as made of
/// that commit. rockpack cannot see what they were made of: who writes the commit answers for it.
///
/// Exit status: 0 put together, 1 the directories do not belong together or a package was changed,
/// 2 something is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = ASSEMBLE_EXAMPLES)]
pub struct AssembleArgs {
    /// What builds made: their --dest-dir, or the dist directory in it
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    pub dirs: Vec<PathBuf>,

    /// Where the packages go: DIR/dist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dest_dir: PathBuf,

    /// The git commit that the files were made of, which no build of rockpack recorded: its whole name
    #[arg(long, value_name = "COMMIT", value_hint = ValueHint::Other, help_heading = "Finished files")]
    pub source_commit: Option<Commit>,

    /// Who made them, as the provenance statement names it: a URI [default: nobody in particular]
    #[arg(long, value_name = "URI", value_hint = ValueHint::Other, requires = "source_commit", help_heading = "Finished files")]
    pub builder_id: Option<BuilderId>,

    /// Which run of the builder it was, for the same statement [default: not said]
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other, requires = "source_commit", help_heading = "Finished files")]
    pub invocation_id: Option<String>,
}

const ASSEMBLE_EXAMPLES: &str = "\
Examples:
  What three jobs of a matrix built and uploaded:
    rockpack assemble jobs/core jobs/libraries jobs/device --dest-dir out
    rockpack verify out/dist

  The files of a release, made by other programs:
    rockpack assemble files --dest-dir release --source-commit 5a1c3b7e9d2f4a6c8e0b1d3f5a7c9e2b4d6f8a0c
";
