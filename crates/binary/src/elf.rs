//! Reads and edits ELF files: what a file needs and offers, and another rpath, SONAME or NEEDED for it.
//!
//! ```text
//! ReadAt ─inspect─► ElfInfo ─facts──────► ElfFacts
//!                      └─────plan_edit──► EditPlan ─► Edited (reads as the edited file) ─verify
//! ```
//!
//! Only headers, the dynamic section and its string and version tables are read, through
//! `PT_DYNAMIC`; section headers are kept in step where they exist, but nothing depends on
//! them, and nothing but [`fat`] (device code) on a section's name. An edit is a list of overlays and a tail, so
//! that a file of gigabytes is edited while it is copied, and its source is never written to.

mod builder;
mod dynamic;
mod edit;
mod edit_plan;
mod edited;
mod edits;
mod error;
mod exports;
mod facts;
pub mod fat;
pub mod forward;
mod header;
mod imports;
mod info;
mod invariants;
mod isa;
mod layout;
mod plan;
mod pointers;
mod preconditions;
mod ranges;
mod relocate;
mod rpath;
pub mod stub;
mod verify;
mod versions;
mod violation;
mod write;

pub use crate::{Machine, ReadAt};
pub use edit::edit;
pub use edit_plan::{EditPlan, Overlay};
pub use edited::{Edited, Reader};
pub use edits::{Edits, Rename, RpathEdit};
pub use error::ElfError;
pub use exports::Export;
pub use facts::{ElfFacts, VersionNeed, facts};
pub use imports::Import;
pub use info::{ElfInfo, ElfKind, inspect};
pub use plan::plan_edit;
pub use rpath::{Leads, Rpath, RpathEntry, rpath_text, walked};
pub use verify::{compare, inherited, verify};
pub use violation::Violation;
