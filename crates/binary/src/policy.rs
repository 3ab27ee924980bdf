//! Platform tags of ELF files by the manylinux and musllinux policies.
//!
//! ```text
//! ElfFacts of a set of files ─Needs::of─► Needs ─verdict───────► Verdict (tag, and its obstacles)
//!                                           └──refusal──────► Refusal of a level
//! ```
//!
//! A policy (PEP 600 and its predecessors; PEP 656) lists symbol versions and libraries of all
//! systems with its tag; `policy/table.tsv` contains all policies and their architectures.

mod architecture;
mod facts;
mod level;
mod lines;
mod needs;
mod obstacle;
mod python_process;
mod symbols;
mod table;
mod verdict;
mod windows;

pub use architecture::Architecture;
pub use facts::{facts, facts_of, forbidden};
pub use level::{Level, LevelError};
pub use needs::{Mixed, Needs, Shipped, Subject, libc, unusual_loader};
pub use obstacle::{Obstacle, ObstacleKind};
pub use symbols::{SymbolSet, Symbols, Unresolved, Unused};
pub use table::{Policy, is_promised, policies};
pub use verdict::{Older, Refusal, Verdict};
pub use windows::windows_tag;

use table::forbidding_libraries;

/// C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Libc {
    /// glibc (manylinux).
    Glibc,
    /// musl (musllinux).
    Musl,
}

impl Libc {
    /// Returns the prefix of its tags.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Glibc => "manylinux",
            Self::Musl => "musllinux",
        }
    }
}

#[cfg(test)]
mod tests;
