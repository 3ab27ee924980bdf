//! Files of every linker and tool, edited, then loaded or run: the cases of the ELF editor's
//! specification.
//!
//! Each case builds its input. A case without its tool is skipped, and listed after all tests.
//! Numbers without a case are not in the specification either.

mod fat;
mod kpack;
mod linkers;
mod names;
mod others;
mod refusals;
mod splits;
mod stacks;
mod tools;
