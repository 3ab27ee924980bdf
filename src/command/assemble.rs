//! `rockpack assemble`: unites what several builds made.

use std::fmt::Write as _;

use rockpack::assemble::{self, AssembleError, Assembled};
use rockpack::provenance::Made;
use rockpack::recorded::RecordError;
use rockpack::source::{Code, Problem};
use rockpack::text::{counted, with_causes};

use super::{Failure, gate, made, print, repaired};
use crate::cli::AssembleArgs;
use crate::inputs;

/// Puts everything in place, and says what there is.
pub fn run(args: &AssembleArgs) -> Result<(), Failure> {
    args.dirs.iter().try_for_each(|dir| repaired(dir))?;
    let manifest = inputs::manifest::quietly(args.manifest.as_deref())?;
    let gate = gate::of(&manifest, &args.allow);
    let done = match &args.source_commit {
        None => assemble::assemble(&args.dirs, &args.dest_dir, &gate),
        Some(commit) => {
            let made = Made {
                of: commit.clone(),
                builder: args.builder_id.clone().unwrap_or_default(),
                invocation: args.invocation_id.clone(),
            };
            assemble::assemble_finished(&args.dirs, &made, &args.dest_dir, &gate)
        }
    };
    let done = done.map_err(|e| failure(&e))?;
    print(&said(args, &done))
}

fn said(args: &AssembleArgs, done: &Assembled) -> String {
    let mut text = made(&done.packages, &done.removed, "build");
    let (finished, commit) =
        args.source_commit.as_ref().map_or((false, ""), |commit| (true, commit.as_str()));
    let _ = writeln!(
        text,
        "{} of {} in {}, with {}",
        counted(done.packages.len(), if finished { "file" } else { "package" }),
        if finished { format!("commit {commit:.12}") } else { counted(args.dirs.len(), "build") },
        args.dest_dir.display(),
        counted(done.statements, "provenance statement"),
    );
    text
}

fn failure(error: &AssembleError) -> Failure {
    let what = with_causes(error);
    let (code, help) = match error {
        AssembleError::Gate(error) => return gate::failure(error),
        AssembleError::Stage(_)
        | AssembleError::Io(_)
        | AssembleError::NoRecord(RecordError::Io(_)) => {
            return Problem::error(Code::Environment, what).into();
        }
        AssembleError::NoRecord(
            RecordError::Nothing(_) | RecordError::Line { .. } | RecordError::Statement { .. },
        )
        | AssembleError::Absent { .. } => {
            (Code::ChecksumList, "fetch the whole output of the job again, or build it again")
        }
        AssembleError::NoRecord(_) => (
            Code::ChecksumList,
            "give directories that `rockpack build` or `rockpack assemble` wrote; of other finished \
             files, say with --source-commit what they were made of",
        ),
        AssembleError::Record { .. } => (
            Code::ChecksumList,
            "leave out --source-commit: what is recorded is united as it was recorded",
        ),
        AssembleError::NotAFile { .. } | AssembleError::Empty { .. } => {
            (Code::ChecksumList, "give directories that have the finished files and nothing else")
        }
        AssembleError::Untold { .. } => (
            Code::ChecksumList,
            "take it out of the list and the directory, or give it in a directory of its own with --source-commit",
        ),
        AssembleError::Changed { .. } | AssembleError::Unusable { .. } => {
            (Code::ChecksumList, "fetch it again from the job that built it, or build it again")
        }
        AssembleError::Different { .. } => {
            (Code::ShardsDisagree, "build each package in one job: `rockpack build --only`")
        }
        AssembleError::Plans { .. } => {
            (Code::ShardsDisagree, "build all of them with the same parameters")
        }
    };
    Failure::Problems(Problem::error(code, what).help(help).into())
}
