//! Detection of GPU targets in files, and extraction of their code.
//!
//! ELF code objects have an ISA number in their header. Offload bundles, also inside programs and
//! libraries, and code archives (`KPAK`) name a target for each piece of code. Code databases have
//! no common format: they are searched for ISA names, which [`base::names::TargetNames`]
//! interprets.

use std::collections::BTreeSet;

mod archive;
mod bundle;
mod compatible;
mod elf;
mod kpack;
mod msgpack;
mod packer;
mod reading;
mod unbundled;

pub use elf::{of_binary, of_stream};
pub use kpack::{Archiver, compressed, marker};
pub use reading::{Reading, Sink};
pub use unbundled::{Bundle, BundleError, Object};

/// Targets found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Target names as spelled in the file, with features if it lists any.
    pub ids: BTreeSet<String>,
    /// ISA numbers (`EF_AMDGPU_MACH`).
    pub machs: BTreeSet<u32>,
    /// Texts that begin with the prefix of an ISA name.
    pub texts: BTreeSet<String>,
    /// Part of the file that could not be read, so that more targets may exist.
    pub unread: Option<&'static str>,
}

/// Returns whether a file with these first 24 bytes is an offload bundle or code archive.
pub fn is_container(start: &[u8]) -> bool {
    bundle::is_one(start) || archive::table_offset(start).is_some()
}

impl Code {
    /// Returns whether nothing was found, and all was read.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
