//! Checks a file against the one that it was made of, whatever made it.

use std::path::Path;

use fs_err::File;
use rockpack::elf::{self, EditPlan, Edits, ElfError, ElfFacts, Rename, RpathEdit, Violation};
use rockpack::source::{Code, Problem, Problems};

use super::headers::{self, Headers};
use super::{contents, environment, open, print, refused, show};
use crate::cli::VerifyArgs;
use crate::command::Failure;
use crate::ui;

/// How much more than our own edit another tool's may take, in bytes, besides another copy of the
/// strings: padding to the largest pages on both sides of what it moves.
const PADDING: u64 = 3 * 0x1_0000;

/// Prints what was edited and that all invariants hold, or fails with those that don't.
pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let (old, new) = (open(&args.old)?, open(&args.new)?);
    let old_fault = |error: &_| refused("check an edit of", &args.old, error);
    let info = elf::inspect(&old).map_err(|error| old_fault(&error))?;
    let before = info.facts().map_err(|error| old_fault(&error))?;
    let after = elf::inspect(&new)
        .and_then(|info| info.facts())
        .map_err(|error| refused("read", &args.new, &error))?;
    let edits = edits_between(&before, &after);
    let plan = match elf::plan_edit(&old, &info, &edits) {
        // A name that we don't write, as an rpath with an empty directory, is NEW's fault.
        Err(error @ ElfError::Name { .. }) => {
            return Err(violated(
                &args.new,
                &[Violation { invariant: "I11", detail: error.to_string() }],
            ));
        }
        planned => planned.map_err(|error| old_fault(&error))?,
    };
    let mut found = violations(&old, &new, &plan)?;
    if before.interpreter != after.interpreter {
        found.push(Violation { invariant: "I13", detail: "the loader's name changed".to_owned() });
    }
    let inherited = elf::inherited(&old).map_err(|error| old_fault(&error))?;
    ui::show_problems(&problems(&inherited, |it| {
        Problem::warning(
            Code::ElfViolation,
            format!("{} breaks by itself {it}", args.old.display()),
        )
    }));
    if found.is_empty() { print(&summary(&plan)) } else { Err(violated(&args.new, &found)) }
}

fn violated(new: &Path, found: &[Violation]) -> Failure {
    Failure::Problems(problems(found, |violation| {
        Problem::error(Code::ElfViolation, format!("{} violates {violation}", new.display()))
    }))
}

fn problems(violations: &[Violation], problem: impl Fn(&Violation) -> Problem) -> Problems {
    let mut all = Problems::new();
    for violation in violations {
        all.push(problem(violation));
    }
    all
}

fn summary(plan: &EditPlan) -> String {
    // The first steps are what was asked for; how our editor would find room is not what NEW did.
    let edited = |step: &&String| {
        ["RPATH ", "RUNPATH ", "SONAME ", "NEEDED "].iter().any(|start| step.starts_with(start))
    };
    let steps: Vec<_> = plan.steps().iter().filter(edited).map(String::as_str).collect();
    let edit = if steps.is_empty() {
        "no difference in rpath, SONAME and NEEDED".to_owned()
    } else {
        steps.join("\n")
    };
    edit + "\nall invariants hold\n"
}

/// The edit that makes the names of `new` out of those of `old`. What no edit makes (a name that
/// is gone, another number of libraries, a new RUNPATH) is not in it, and so is a violation.
fn edits_between(old: &ElfFacts, new: &ElfFacts) -> Edits {
    let soname = new.soname.clone().filter(|_| new.soname != old.soname);
    let renames =
        old.needed.iter().zip(&new.needed).filter(|(old, new)| old != new && !new.is_empty());
    let renames = renames.map(|(from, to)| Rename { from: from.clone(), to: to.clone() });
    let needed = if old.needed.len() == new.needed.len() { renames.collect() } else { Vec::new() };
    Edits { rpath: rpath_between(old, new), soname, needed }
}

fn rpath_between(old: &ElfFacts, new: &ElfFacts) -> RpathEdit {
    let effective = old.runpath.as_ref().or(old.rpath.as_ref());
    let same = (&old.rpath, &old.runpath) == (&new.rpath, &new.runpath);
    match &new.rpath {
        _ if same || new.runpath.is_some() => RpathEdit::Keep,
        Some(value) if effective == Some(value) => RpathEdit::Convert,
        Some(value) => RpathEdit::Set(value.split(':').map(str::to_owned).collect()),
        None => RpathEdit::Set(Vec::new()),
    }
}

fn violations(old: &File, new: &File, plan: &EditPlan) -> Result<Vec<Violation>, Failure> {
    let mut found = elf::verify(old, new, plan).err().unwrap_or_default();
    // That one compares lengths with those of our own edit. What it stands for, that all other
    // bytes are the same, is looked up in the files.
    found.retain(|violation| violation.invariant != "I17");
    let tables = |file: &File| {
        headers::read(file)
            .map_err(|error| environment(format!("cannot read {}: {error}", file.path().display())))
    };
    let (before, after) = (tables(old)?, tables(new)?);
    found.extend(headers_kept(&before, &after));
    let compared = contents::differences(old, &before, new, &after);
    found.extend(compared.map_err(|error| environment(error.to_string()))?);
    found.extend(growth(new, &after, plan)?);
    Ok(found)
}

/// I17, I18: the file header says what it said, and no segment appears but what an edit adds.
fn headers_kept(before: &Headers, after: &Headers) -> Vec<Violation> {
    let mut found = Vec::new();
    for ((name, old), (_, new)) in
        before.fields.iter().zip(&after.fields).filter(|(old, new)| old != new)
    {
        found.push(Violation {
            invariant: "I17",
            detail: format!("{name} is {new:#x}, was {old:#x}"),
        });
    }
    let count = |tables: &Headers, kind| {
        tables.segments.iter().filter(|segment| segment.kind == kind).count()
    };
    let others = after
        .segments
        .iter()
        .filter(|segment| !segment.is_load() && segment.kind != object::elf::PT_NULL);
    for segment in others.filter(|segment| count(after, segment.kind) > count(before, segment.kind))
    {
        let detail =
            format!("a program header of type {} appeared", show::segment_kind(segment.kind));
        found.push(Violation { invariant: "I18", detail });
    }
    found
}

/// I12: what an edit adds is the new strings and a copy each of what had to move.
fn growth(new: &File, tables: &Headers, plan: &EditPlan) -> Result<Option<Violation>, Failure> {
    let len = new.metadata().map_err(|error| environment(error.to_string()))?.len();
    let strings = tables.entry(object::elf::DT_STRSZ).unwrap_or(0);
    let most = plan.new_len().saturating_add(strings).saturating_add(PADDING);
    let detail = || {
        format!("it grew from {} to {len} bytes, and {} are enough", plan.old_len(), plan.new_len())
    };
    Ok((len > most).then(|| Violation { invariant: "I12", detail: detail() }))
}
