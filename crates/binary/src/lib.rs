//! Facts about programs and libraries of any format.
//!
//! ```text
//! ReadAt ─read─► Binary ─facts─► Facts: kind, machine, names, needs, search directories, versions
//! ```
//!
//! Takes the bytes of files; returns facts, edited ELF files ([`elf`]) and device code. Never runs
//! a file, checks every length in it, and knows neither packages nor ROCm.

#![warn(missing_docs)]

pub mod device_code;
pub mod elf;
mod facts;
pub mod fat;
pub mod loader;
mod machine;
mod overlay;
pub mod pe;
pub mod policy;
mod read;
mod read_at;
pub mod systems;
#[cfg(test)]
mod tests;

pub use facts::{BinaryKind, Facts, Format, SearchPath};
pub use machine::Machine;
pub use read::{Binary, BinaryError, read};
pub use read_at::ReadAt;
