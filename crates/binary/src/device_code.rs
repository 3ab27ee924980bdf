//! GPU targets of files, and their code.
//!
//! ELF code objects have an ISA number in their header. Offload bundles and code archives (`KPAK`)
//! name a target for each piece of code. Code databases have no common format: they are searched
//! for ISA names, for [`base::names::TargetNames`].

use std::collections::BTreeSet;

mod archive;
mod bundle;
mod compatible;
mod elf;
mod forms;
mod kpack;
mod msgpack;
mod packer;
mod reading;
mod unbundled;

pub(crate) use elf::isa_number;
pub use elf::{of_binary, of_stream};
pub use forms::{CodeForm, forms};
pub use kpack::{Archiver, compressed, marker};
pub use reading::{Reading, Sink};
pub use unbundled::{Bundle, BundleError, Object};

/// Targets found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Target names as spelled, with features.
    pub ids: BTreeSet<String>,
    /// ISA numbers (`EF_AMDGPU_MACH`).
    pub machs: BTreeSet<u32>,
    /// Texts with the prefix of an ISA name.
    pub texts: BTreeSet<String>,
    /// Unread part, with possible further targets.
    pub unread: Option<&'static str>,
}

/// Recognizes an offload bundle or code archive by its first 24 bytes.
pub fn is_container(start: &[u8]) -> bool {
    bundle::is_one(start) || archive::table_offset(start).is_some()
}

impl Code {
    /// Returns true if the whole file was read and has no target.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
