//! Files of every linker and tool, edited, then loaded or run: the cases of the ELF editor's specification.
//!
//! Each case builds its own input. One whose tool is missing says `SKIPPED case N`; in the
//! project's CI it fails if CI installs that tool. Numbers without a case here are not in
//! the specification either.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
#![expect(clippy::print_stderr, reason = "a case that is skipped says so")]

#[path = "elf_conformance/kpack.rs"]
mod kpack;
#[path = "elf_conformance/linkers.rs"]
mod linkers;
#[path = "elf_conformance/names.rs"]
mod names;
#[path = "elf_conformance/others.rs"]
mod others;
#[path = "elf_conformance/refusals.rs"]
mod refusals;
#[path = "elf_conformance/splits.rs"]
mod splits;
#[path = "elf_conformance/tools.rs"]
mod tools;
