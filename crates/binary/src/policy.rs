//! Platform tags: on which systems ELF files run, by the manylinux and musllinux policies.
//!
//! ```text
//! ElfFacts of a set of files ─Needs::of─► Needs ─verdict───────► Verdict (the tag, and what forces it)
//!                                           └──contradiction──► why a tag is wrong for them
//! ```
//!
//! Facts are enough, so that a plan says of a catalog what an audit says of the wheels that were
//! built. A policy (PEP 600 and its forerunners; PEP 656) lists the symbol versions and the
//! libraries that every system of its tag has; `policy/table.tsv` has all of them.

mod facts;
mod given;
mod level;
mod needs;
mod obstacle;
mod symbols;
mod table;
mod verdict;
mod windows;

pub use facts::{facts, facts_of};
pub use level::{Level, LevelError};
pub use needs::{Mixed, Needs, Shipped, Subject};
pub use obstacle::{Obstacle, ObstacleKind};
pub use symbols::{SymbolSet, Symbols, Unresolved};
pub use table::{Policy, is_promised, policies};
pub use verdict::{Older, Verdict};
pub use windows::windows_tag;

use crate::elf::stub::StubMachine;
use table::is_forbidden_somewhere;

/// The C library that files are linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Libc {
    /// glibc: manylinux.
    Glibc,
    /// musl: musllinux.
    Musl,
}

impl Libc {
    /// What its tags begin with, up to the numbers.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Glibc => "manylinux",
            Self::Musl => "musllinux",
        }
    }
}

/// The architecture as platform tags end with it.
pub fn architecture(machine: StubMachine) -> &'static str {
    match machine {
        StubMachine::X86_64 => "x86_64",
        StubMachine::Aarch64 => "aarch64",
    }
}

#[cfg(test)]
mod tests;
