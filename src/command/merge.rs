//! `rockpack merge`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::{counted, with_causes};
use build::assemble::{self, AssembleError, Assembled, Promised};
use build::execute;
use record::provenance::{FilesOrigin, Part};
use record::recorded::RecordError;
use wheel::archive::variants;

use super::{Failure, gate, made, print, repaired};
use crate::cli::MergeArgs;
use crate::inputs::{self, saved_plan};

pub fn run(args: &MergeArgs) -> Result<(), Failure> {
    args.dirs.iter().try_for_each(|dir| repaired(dir))?;
    let manifest = inputs::manifest::read_without_messages(args.manifest.as_deref())?;
    let gate = gate::for_command(check::Command::Merge, &manifest, &args.allow.allow);
    let assembled = match &args.source_commit {
        None => {
            let promised = args.plan.as_deref().map(promised).transpose()?;
            assemble::assemble(&args.dirs, promised.as_ref(), &args.output, &gate)
        }
        Some(commit) => {
            let origin = FilesOrigin { commit: commit.clone(), run: inputs::run()? };
            assemble::assemble_finished(&args.dirs, &origin, &args.output, &gate)
        }
    };
    let assembled = assembled.map_err(|e| failure(&e))?;
    print(&summary(args, &assembled))
}

fn promised(file: &Path) -> Result<Promised, Failure> {
    let plan = saved_plan::read(file)?;
    let mut files: BTreeSet<RelPath> = plan
        .distributions
        .iter()
        .map(|distribution| execute::output_path(&plan, distribution))
        .collect();
    let with_variants =
        plan.distributions.iter().filter(|distribution| distribution.variants.is_some());
    files.extend(with_variants.filter_map(|distribution| {
        let name = variants::file_name(&distribution.name, &plan.version).parse().ok()?;
        Some(distribution.directory.join(&name))
    }));
    let projects = plan.projects.iter().filter(|project| project.native.is_none());
    let projects = projects.map(|project| project.name.to_string());
    let wheels = plan.wheels.iter().map(|wheel| wheel.name.to_string());
    Ok(Promised {
        label: file.display().to_string(),
        digest: plan.digest(),
        files,
        projects: projects.chain(wheels).collect(),
    })
}

fn summary(args: &MergeArgs, assembled: &Assembled) -> String {
    let mut text = made(&assembled.packages, &assembled.removed, "build");
    let (finished, commit) =
        args.source_commit.as_ref().map_or((false, ""), |commit| (true, commit.as_str()));
    let _ = writeln!(
        text,
        "{} of {} in {}, with {}",
        counted(assembled.packages.len(), if finished { "file" } else { "package" }),
        if finished { format!("commit {commit:.12}") } else { counted(args.dirs.len(), "build") },
        args.output.display(),
        counted(assembled.statements, "provenance statement"),
    );
    text
}

fn failure(error: &AssembleError) -> Failure {
    let message = with_causes(error);
    let (code, help) = match error {
        AssembleError::Gate(error) => return gate::failure(error),
        AssembleError::NoRecord(RecordError::Io(error))
            if error.kind() != ErrorKind::InvalidData =>
        {
            return Problem::error(Code::Environment, message).into();
        }
        AssembleError::Unusable { error, .. } if error.kind() == ErrorKind::PermissionDenied => {
            return Problem::error(Code::Environment, message).into();
        }
        AssembleError::Stage(_) | AssembleError::Io(_) => {
            return Problem::error(Code::Environment, message).into();
        }
        AssembleError::NoRecord(
            RecordError::Io(_)
            | RecordError::Nothing(_)
            | RecordError::Line { .. }
            | RecordError::Statement { .. },
        )
        | AssembleError::Absent { .. } => {
            (Code::ChecksumList, "fetch the whole output of the job again, or build it again")
        }
        AssembleError::NoRecord(_) => (
            Code::ChecksumList,
            "give directories that `rockpack build` or `rockpack merge` wrote; for other \
             finished files, add --source-commit",
        ),
        AssembleError::Record { .. } => (
            Code::ChecksumList,
            "remove --source-commit: the directories already record their sources",
        ),
        AssembleError::NotAFile { .. } | AssembleError::Empty { .. } => {
            (Code::ChecksumList, "give directories with only the finished files")
        }
        AssembleError::Untold { .. } => (
            Code::ChecksumList,
            "remove it from the list and the directory, or give it in a separate directory with \
             --source-commit",
        ),
        AssembleError::Unlisted { .. } => (
            Code::ChecksumList,
            "remove it, or move it to a separate directory and give that with --source-commit",
        ),
        AssembleError::Changed { .. } | AssembleError::Unusable { .. } => {
            (Code::ChecksumList, "fetch it again from the job that built it, or build it again")
        }
        AssembleError::Different { .. } => {
            (Code::ShardsDisagree, "build each package in one job: `rockpack build --only`")
        }
        AssembleError::Disagree { difference, .. } => {
            (Code::ShardsDisagree, remedy(difference.part))
        }
        AssembleError::Incomparable { .. } => (
            Code::ShardsDisagree,
            "build all packages again with one release of rockpack: an older one built this",
        ),
        AssembleError::OtherPlan { .. } => (
            Code::ShardsDisagree,
            "give the plan of all packages, from `rockpack plan --json` with the options of the \
             jobs but without --only",
        ),
        AssembleError::Incomplete { .. } => (
            Code::PackageMissing,
            "give the directories of all jobs, or build the missing packages: `rockpack build \
             --plan FILE --only NAME`",
        ),
    };
    Failure::Problems(Problem::error(code, message).help(help).into())
}

fn remedy(part: Part) -> &'static str {
    match part {
        Part::Command => "merge outputs of one command only",
        Part::Decision | Part::Options => "build all packages with the same options, except --only",
        Part::Manifest => "build all packages from the same packages.kdl and families.kdl",
        Part::Artifacts => {
            "build all packages from the artifacts of one run; `--lock FILE --locked` ensures \
             the same archives in each job"
        }
        Part::Program => "build all packages with one release of rockpack",
        Part::Plan => {
            "plan all packages from one catalog: `rockpack artifact scan -o FILE`, then \
             `rockpack build --catalog FILE`"
        }
    }
}
