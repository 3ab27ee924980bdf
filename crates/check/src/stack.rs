//! Executable stacks, for verify and audit alike.

use crate::finding::Finding;
use base::source::Code;
use binary::elf::{ElfFacts, ExecutableStack};
use binary::policy::{Libc, libc};

/// Returns an error for a library, which glibc 2.41 and later do not load, and a warning for a
/// program, which the kernel starts. musl ignores the request of a library.
pub(crate) fn finding(facts: &ElfFacts) -> Option<Finding> {
    let stack = facts.executable_stack?;
    let because = match stack {
        ExecutableStack::Flag => "GNU_STACK is rwx",
        ExecutableStack::NoHeader => "it has no GNU_STACK",
    };
    let finding = if facts.kind.is_library() {
        if libc(facts) == Some(Libc::Musl) {
            return None;
        }
        let what = "library with an executable stack, which glibc 2.41 and later refuse to load";
        Finding::error(Code::ExecutableStack, what)
    } else {
        Finding::warning(Code::ExecutableStack, "program with an executable stack")
    };
    Some(finding.because(because))
}
