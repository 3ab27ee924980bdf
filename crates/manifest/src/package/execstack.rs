//! `clear-execstack`.

use crate::Glob;
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Removes the request for an executable stack from ELF files of the package: glibc 2.41 and later
/// refuse to load a library with it. The build proves that the code of each file has no trampoline
/// of GCC. Code that a program writes to its stack itself can't be found: the reason excludes it.
#[derive(Debug, Clone, Line)]
#[line(
    "clear-execstack",
    once,
    example = r#"clear-execstack "lib/libfft.so.*" reason="its assembler sources lack .note.GNU-stack""#
)]
pub struct ExecstackRule {
    /// Paths of files in the package; `*` stays in one directory, `**` spans them.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// Reason why their code needs no executable stack.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}
