//! GPU targets of files, and their code.
//!
//! ELF code objects have an ISA number in their header. Offload bundles and code archives (`KPAK`)
//! name a target for each piece of code. Code databases have no common format: they are searched
//! for ISA names, for [`base::names::TargetNames`].

use std::collections::BTreeSet;
use std::io::{self, BufReader};

use crate::ReadAt;
use elf::Cursor;

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

/// Bytes that identify a bundle or archive.
pub const START: usize = 24;

/// Recognizes an offload bundle or code archive by its first 24 bytes.
pub fn is_container(start: &[u8]) -> bool {
    bundle::is_one(start) || archive::table_offset(start).is_some()
}

/// Returns the code of an offload bundle or code archive with this start of [`START`] bytes or less, of which only the
/// table is read; `None` for any other file.
///
/// # Errors
///
/// If reading fails.
pub fn of_container(file: &(impl ReadAt + ?Sized), start: &[u8]) -> io::Result<Option<Code>> {
    if start.len() < START {
        return Ok(None);
    }
    let len = file.len()?;
    let (targets, unread) = match archive::table_offset(start) {
        Some(offset) => (archive::table_at(file, offset, len)?, archive::UNREAD),
        None if bundle::is_one(start) => {
            (bundle::targets(BufReader::new(Cursor { file, at: 0, len })), bundle::UNREAD)
        }
        None => return Ok(None),
    };
    let unread = targets.is_none().then_some(unread);
    Ok(Some(Code { ids: targets.unwrap_or_default(), unread, ..Code::default() }))
}

impl Code {
    /// Returns true if the whole file was read and has no target.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
