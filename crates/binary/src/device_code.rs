//! Which targets files have code for, read from what is inside them.
//!
//! ELF code objects have the number of an ISA in their headers; offload bundles, by themselves or
//! in programs and libraries, name a target for each piece of code; so do the tables of contents of
//! code archives (`KPAK`). Databases of code are of no one format: in them the names of ISAs are
//! looked for as texts. Nothing here knows which targets there are: [`base::names::TargetNames`] does.
//!
//! Code also moves: out of a [`Bundle`], by an [`Archiver`], into an archive.

use std::collections::BTreeSet;

mod archive;
mod bundle;
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

/// The targets that a file has code for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Targets by name, as the file spells them, perhaps with features.
    pub ids: BTreeSet<String>,
    /// ISAs by number.
    pub machs: BTreeSet<u32>,
    /// Texts that begin like the name of an ISA.
    pub texts: BTreeSet<String>,
    /// What is in it is not known: why.
    pub unread: Option<&'static str>,
}

/// Whether a file that begins with these 24 bytes tells of code by its inside, other than as a program or a
/// library: an offload bundle or an archive of code.
pub fn is_container(start: &[u8]) -> bool {
    bundle::is_one(start) || archive::table_offset(start).is_some()
}

impl Code {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
