//! Requests for an executable stack.

use base::source::Code;
use binary::elf::{ElfFacts, ExecutableStack};
use binary::policy::{Level, Libc, libc};

use crate::{Finding, Set};

/// The first glibc that refuses libraries with an executable stack.
const REFUSING: (u32, u32) = (2, 41);

/// Returns whether systems of a level refuse the file of a finding.
pub(crate) fn is_refused(finding: &Finding, level: Level) -> bool {
    let refuses = level.libc == Libc::Glibc && level.release >= REFUSING;
    refuses && finding.code == Code::ExecutableStack
}

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let findings = set.binaries().filter_map(|(package, file, needs)| {
        Some(of_file(needs.elf()?)?.of(&*file.member).within(&package.file))
    });
    findings.collect()
}

/// An error for a library, which glibc 2.41 and later do not load, and a warning for a program, which the kernel
/// starts. musl ignores the request of a library.
fn of_file(facts: &ElfFacts) -> Option<Finding> {
    let because = match facts.executable_stack? {
        ExecutableStack::Flag => "GNU_STACK is rwx",
        ExecutableStack::NoHeader => "it has no GNU_STACK",
    };
    let finding = if facts.kind.is_library() {
        if libc(facts) == Some(Libc::Musl) {
            return None;
        }
        let message = "library with an executable stack, which glibc 2.41 and later refuse to load";
        Finding::error(Code::ExecutableStack, message)
    } else {
        Finding::warning(Code::ExecutableStack, "program with an executable stack")
    };
    Some(finding.because(because))
}
