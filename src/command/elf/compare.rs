use std::path::Path;

use base::source::{Code, Problem, Problems};
use binary::elf::{self, ElfFacts, Violation};

use super::{open, print, refused};
use crate::cli::CompareArgs;
use crate::failure::Failure;
use crate::ui;

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let (old, new) = (open(&args.old)?, open(&args.new)?);
    let old_fault = |error: &_| refused("check an edit of", &args.old, error);
    let before = elf::inspect(&old).and_then(|info| info.editable_facts());
    let before = before.map_err(|error| old_fault(&error))?;
    let after = elf::inspect(&new)
        .and_then(|info| info.facts())
        .map_err(|error| refused("read", &args.new, &error))?;
    let violations = elf::compare(&old, &new).err().unwrap_or_default();
    let inherited = elf::inherited_violations(&old).map_err(|error| old_fault(&error))?;
    ui::show_problems(&problems(&inherited, |violation| {
        Problem::warning(
            Code::ElfViolation,
            format!("{} already violates {violation}", args.old.display()),
        )
    }));
    if violations.is_empty() {
        print(&summary(&before, &after))
    } else {
        Err(violated(&args.new, &violations))
    }
}

fn violated(new: &Path, violations: &[Violation]) -> Failure {
    Failure::Problems(problems(violations, |violation| {
        Problem::error(Code::ElfViolation, format!("{} violates {violation}", new.display()))
    }))
}

fn problems(violations: &[Violation], problem: impl Fn(&Violation) -> Problem) -> Problems {
    let mut problems = Problems::new();
    for violation in violations {
        problems.push(problem(violation));
    }
    problems
}

fn summary(old: &ElfFacts, new: &ElfFacts) -> String {
    let mut lines = Vec::new();
    if (&old.rpath, &old.runpath) != (&new.rpath, &new.runpath) {
        lines.push(format!("{} → {}", old.search_path(), new.search_path()));
    }
    if old.soname != new.soname {
        let name = |facts: &ElfFacts| facts.soname.clone().unwrap_or_default();
        lines.push(format!("SONAME `{}` → `{}`", name(old), name(new)));
    }
    let renames = old.needed.iter().zip(&new.needed).filter(|(old, new)| old != new);
    lines.extend(renames.map(|(old, new)| format!("NEEDED `{old}` → `{new}`")));
    if old.executable_stack.is_some() && new.executable_stack.is_none() {
        lines.push("the stack is no longer executable".to_owned());
    }
    if lines.is_empty() {
        lines.push("no difference in rpath, SONAME and NEEDED".to_owned());
    }
    lines.push("all invariants hold".to_owned());
    lines.join("\n") + "\n"
}
