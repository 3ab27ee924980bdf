use std::fmt::Write as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use base::partial::{self, PartialFile};
use base::source::{Code, Problem};
use binary::elf::{self, EditPlan, ElfFacts};
use fs_err::File;
use rustix::io::Errno;

use super::{environment, open, print, refused};
use crate::cli::EditArgs;
use crate::failure::Failure;
use crate::ui;

pub fn run(args: &EditArgs) -> Result<(), Failure> {
    let old = open(&args.file)?;
    if let Some(out) = &args.output {
        check_output(&old, &args.file, out)?;
    }
    let fault = |error: &_| refused("edit", &args.file, error);
    let info = elf::inspect(&old).map_err(|error| fault(&error))?;
    let facts = info.facts().map_err(|error| fault(&error))?;
    let plan = elf::edit(&old, &args.edits()).map_err(|error| fault(&error))?;
    if let (Some(out), false) = (&args.output, args.dry_run) {
        write(&old, &plan, out)?;
        if ui::quiet() {
            return Ok(());
        }
    }
    // Of a dry run, the steps are the result.
    print(&steps(&plan, &facts))
}

fn steps(plan: &EditPlan, facts: &ElfFacts) -> String {
    let mut text = String::new();
    for step in plan.steps() {
        let _ = writeln!(text, "{step}");
    }
    let is_needed = |name: &String| {
        facts.needed.contains(name) || facts.versions.iter().any(|need| need.library == *name)
    };
    for rename in plan.edits().needed.iter().filter(|rename| !is_needed(&rename.from)) {
        let _ = writeln!(text, "no NEEDED entry `{}`", rename.from);
    }
    if plan.is_noop() {
        return text + "no change: the file already has the requested values\n";
    }
    let inside = plan.overlay().iter().filter(|overlay| overlay.offset < plan.old_len());
    let changed: usize = inside.map(|overlay| overlay.bytes.len()).sum();
    let _ = writeln!(
        text,
        "{changed} bytes changed, {} added at the end",
        plan.new_len() - plan.old_len()
    );
    text
}

fn check_output(old: &File, file: &Path, out: &Path) -> Result<(), Failure> {
    let Ok(existing) = out.metadata() else { return Ok(()) };
    let source = old.metadata().map_err(|error| environment(error.to_string()))?;
    if (existing.dev(), existing.ino()) == (source.dev(), source.ino()) {
        let problem = Problem::error(
            Code::Environment,
            format!("{} is the same file as {}", out.display(), file.display()),
        );
        return Err(problem.help("give another output: an edit never writes to its input").into());
    }
    if existing.is_file() {
        Ok(())
    } else {
        Err(environment(format!("{} exists and is not a regular file", out.display())))
    }
}

/// Writes a temporary neighbour of `out`, and renames it after a check.
fn write(old: &File, plan: &EditPlan, out: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| environment(format!("cannot write {}: {error}", out.display()));
    let target = PartialFile::beside(out, partial::PRIVATE).map_err(failed)?;
    copy(old.file(), plan.old_len(), target.as_file()).map_err(failed)?;
    change(target.as_file(), plan).map_err(failed)?;
    elf::verify(old, target.as_file(), plan)
        .map_err(|violations| refused("write", out, &elf::ElfError::Verification(violations)))?;
    let mode = old.metadata().map_err(failed)?.mode() & 0o777;
    target.set_mode(mode).map_err(failed)?;
    target.persist(out).map_err(failed)?;
    Ok(())
}

fn change(target: &std::fs::File, plan: &EditPlan) -> io::Result<()> {
    target.set_len(plan.new_len())?;
    plan.overlay()
        .iter()
        .try_for_each(|overlay| target.write_all_at(&overlay.bytes, overlay.offset))
}

/// Copies `old` without its holes. (On Linux, `io::copy` lets the kernel share bytes if the file
/// system can.)
fn copy(mut old: &std::fs::File, len: u64, mut target: &std::fs::File) -> io::Result<()> {
    let mut position = 0;
    while let Some(start) = data_from(old, position)?.filter(|&start| start < len) {
        let end = rustix::fs::seek(old, rustix::fs::SeekFrom::Hole(start))?.min(len);
        old.seek(SeekFrom::Start(start))?;
        target.seek(SeekFrom::Start(start))?;
        if io::copy(&mut old.take(end - start), &mut target)? != end - start {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter during the read",
            ));
        }
        position = end;
    }
    Ok(())
}

fn data_from(file: &std::fs::File, position: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(position)) {
        Ok(start) => Ok(Some(start)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
