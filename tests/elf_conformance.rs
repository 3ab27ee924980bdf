//! Files of every linker and tool, edited, then loaded or run: the cases of the ELF editor's
//! specification.
//!
//! Each case builds its input. A case without its tool is skipped, and listed after all tests.
//! Numbers without a case are not in the specification either.

#[path = "elf_conformance/fat.rs"]
mod fat;
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
#[path = "elf_conformance/stacks.rs"]
mod stacks;
#[path = "elf_conformance/tools.rs"]
mod tools;
