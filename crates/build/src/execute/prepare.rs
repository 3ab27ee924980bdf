//! Preparation of members: plans and proves edits, generates texts, finds files. Finishes before
//! the first write, so that faults are reported together.

use rayon::prelude::*;

use super::ExecuteError;
use super::bytes::Bytes;
use super::timings::{Recorder, Subject};
use ::wheel::archive::{sdist, wheel};
use base::event::WorkKind;
use base::names::RelPath;
use base::text::with_causes;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::exec_stub;
use binary::elf::{self, Edits, ElfError, Rpath, RpathEdit};
use catalog::{Source, SourcePath};
use plan::{Archive, Distribution, Form, Member, Plan, Step};

#[derive(Debug)]
pub(super) struct Ready {
    pub path: RelPath,
    pub executable: bool,
    pub content: ReadyContent,
}

#[derive(Debug)]
pub(super) enum ReadyContent {
    File(Bytes),
    Link(String),
    Directory,
}

#[derive(Debug)]
pub(super) struct Output {
    pub path: RelPath,
    pub members: Vec<Ready>,
    /// Paths are below the licence directory.
    pub licenses: Vec<Ready>,
    pub archive: Vec<Ready>,
}

impl Output {
    pub fn bytes(&self) -> u64 {
        self.members.iter().chain(&self.licenses).chain(&self.archive).map(Ready::len).sum()
    }
}

impl Ready {
    pub fn is_made(&self) -> bool {
        !matches!(self.content, ReadyContent::File(Bytes::File(_) | Bytes::Edited { .. }))
    }

    pub fn len(&self) -> u64 {
        match &self.content {
            ReadyContent::File(bytes) => bytes.len(),
            ReadyContent::Link(_) | ReadyContent::Directory => 0,
        }
    }
}

/// Outputs outside of `is_made` only get their path.
pub(super) fn outputs(
    plan: &Plan,
    artifacts: &dyn Source,
    is_made: impl Fn(usize) -> bool,
    recorder: &Recorder<'_>,
) -> Result<Vec<Output>, ExecuteError> {
    let (mut outputs, mut faults) = (Vec::new(), Vec::new());
    for (index, distribution) in plan.distributions.iter().enumerate() {
        let path = output_path(plan, distribution);
        if is_made(index) {
            let (members, licenses, archive) = (Vec::new(), Vec::new(), Vec::new());
            outputs.push(Output { path, members, licenses, archive });
            continue;
        }
        let ready_member = |member: &Member| {
            let subject = Subject { package: path.as_str(), file: member.path.as_str() };
            recorder.time(WorkKind::Edit, member.size, subject, || member_ready(member, artifacts))
        };
        let mut ready = |members: &[Member]| {
            let results: Vec<_> = members.par_iter().map(ready_member).collect();
            let mut ready_members = Vec::with_capacity(results.len());
            for result in results {
                match result {
                    Ok(member) => ready_members.push(member),
                    Err(fault) => faults.push(fault),
                }
            }
            ready_members
        };
        let (members, licenses) = (ready(&distribution.members), ready(&distribution.licenses));
        let archive = ready(distribution.archive.as_ref().map_or(&[], |a: &Archive| &a.members));
        outputs.push(Output { path, members, licenses, archive });
    }
    if faults.is_empty() { Ok(outputs) } else { Err(ExecuteError::Files(faults)) }
}

/// Checks without writing that the files of `plan` exist and its ELF edits are possible.
///
/// # Errors
///
/// Fails with all unpackable files and their reasons.
pub fn check(plan: &Plan, artifacts: &dyn Source) -> Result<(), ExecuteError> {
    outputs(plan, artifacts, |_| false, &Recorder::new(None)).map(drop)
}

/// Path of a distribution's file below the destination.
pub fn output_path(plan: &Plan, distribution: &Distribution) -> RelPath {
    let name = match distribution.form {
        Form::Wheel => wheel_name(plan, distribution),
        Form::Sdist => sdist::sdist_file_name(&distribution.name, &plan.version),
    };
    name.parse().map_or_else(
        |_| distribution.directory.clone(),
        |name: RelPath| distribution.directory.join(&name),
    )
}

fn wheel_name(plan: &Plan, distribution: &Distribution) -> String {
    let Distribution { name, wheel_variant, .. } = distribution;
    let tag = plan.platform_tag_of(distribution);
    match wheel_variant {
        None => wheel::wheel_file_name(name, &plan.version, tag),
        Some(variant) => wheel::variant_file_name(name, &plan.version, tag, &variant.label),
    }
}

pub(super) fn member_ready(member: &Member, artifacts: &dyn Source) -> Result<Ready, String> {
    let fault = |reason: String| format!("cannot make `{}`: {reason}", member.path);
    let content = match &member.step {
        Step::Copy { source } => ReadyContent::File(copy(source, artifacts).map_err(fault)?),
        Step::Relink { source, rpath, clear_execstack } => {
            let rpath = RpathEdit::Set(Rpath::new(rpath).to_strings());
            let edits = Edits { clear_execstack: *clear_execstack, ..Edits::rpath(rpath) };
            ReadyContent::File(edited(source, &edits, artifacts).map_err(fault)?)
        }
        Step::Stub { target, machine } => ReadyContent::File(Bytes::Memory(
            exec_stub(*machine, target).map_err(|e| fault(with_causes(&e)))?,
        )),
        Step::Alias { soname, needed, rpath, machine } => {
            let library = forwarding_library(*machine, soname, needed, rpath)
                .map_err(|e| fault(with_causes(&e)))?;
            ReadyContent::File(Bytes::Memory(library))
        }
        Step::Link { target } => ReadyContent::Link(target.clone()),
        Step::Directory => ReadyContent::Directory,
        Step::Render { text } => ReadyContent::File(Bytes::Text(text.clone())),
    };
    Ok(Ready { path: member.path.clone(), executable: member.executable, content })
}

fn copy(source: &SourcePath, artifacts: &dyn Source) -> Result<Bytes, String> {
    artifacts.find(source).map(Bytes::File).map_err(|e| e.to_string())
}

fn edited(source: &SourcePath, edits: &Edits, artifacts: &dyn Source) -> Result<Bytes, String> {
    // Identity before reading: the next build notices any later change.
    let file = artifacts.find(source).map_err(|e| e.to_string())?;
    let open = file.open().map_err(|e| e.to_string())?;
    let of_edit = |error: ElfError| match error {
        ElfError::Trampoline { .. } => {
            let help = "remove it from the `clear-execstack` line";
            format!("{source} needs its executable stack: {}; {help}", with_causes(&error))
        }
        error => format!("the rpath of {source} cannot be set: {}", with_causes(&error)),
    };
    let plan = elf::edit(&*open, edits).map_err(of_edit)?;
    Ok(Bytes::Edited { file, plan })
}
