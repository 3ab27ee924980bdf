use std::path::Path;

use base::source::Code;
use binary::elf::ElfKind;
use wheel::edit::{SPECIAL, WRITABLE};

use crate::{File, Finding, Kind, Scheme, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    each(set, |_, mode, found| {
        let error =
            |message| Finding::error(Code::MemberMode, message).because(format!("mode {mode:04o}"));
        found.extend(
            (mode & SPECIAL != 0).then(|| error("set-user-id, set-group-id or sticky bit")),
        );
        found.extend((mode & WRITABLE != 0).then(|| error("writable for everyone")));
    })
}

/// Modules with a SONAME can have an entry, too.
pub(super) fn programs(set: &Set<'_>) -> Vec<Finding> {
    each(set, |file, mode, found| {
        let facts = file.needs().and_then(|needs| needs.elf());
        let is_program = facts.is_some_and(|facts| {
            facts.soname.is_none()
                && matches!(
                    facts.kind,
                    ElfKind::Executable | ElfKind::StaticExecutable | ElfKind::StaticPie
                )
        });
        if is_program && mode & 0o111 == 0 {
            found.push(Finding::error(Code::NotExecutable, "program without execute bit"));
        }
    })
}

/// Modules often have a shebang, and installers rewrite files in the directory of programs.
pub(super) fn scripts(set: &Set<'_>) -> Vec<Finding> {
    each(set, |file, mode, found| {
        let is_script = matches!(file.kind, Kind::Script);
        if is_script && mode & 0o111 == 0 && !is_module(file) && file.scheme != Scheme::Scripts {
            let message = "script (`#!`) without execute bit";
            found.push(Finding::warning(Code::NotExecutable, message));
        }
    })
}

fn each(set: &Set<'_>, judge: impl Fn(&File<'_>, u32, &mut Vec<Finding>)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &set.packages {
        for file in package.installed() {
            let Some(mode) = file.mode.get() else { continue };
            let mut faults = Vec::new();
            judge(file, *mode, &mut faults);
            let faults = faults.into_iter();
            findings.extend(faults.map(|finding| finding.of(&*file.member).within(&package.file)));
        }
    }
    findings
}

fn is_module(file: &File<'_>) -> bool {
    Path::new(&*file.member)
        .extension()
        .is_some_and(|extension| extension.as_encoded_bytes().starts_with(b"py"))
}
