//! Reader of ELF facts and symbols, and editor of rpath, SONAME, NEEDED and executable
//! stacks.
//!
//! ```text
//! ReadAt ─inspect─► ElfInfo ─facts──────► ElfFacts
//!                      └─────plan_edit──► EditPlan ─► Edited (reads as the edited file) ─verify
//! ```
//!
//! Reads only headers, dynamic section, strings and version tables, found through `PT_DYNAMIC`.
//! Section headers are updated if present, but only [`crate::fat`] (device code) depends on their names.
//! An edit is a list of overlays and appended bytes, applied while a file is copied.

mod builder;
mod dynamic;
mod edit;
mod edit_plan;
mod edited;
mod edits;
mod error;
mod exports;
mod facts;
pub(crate) mod fat;
mod format;
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
mod stack;
pub mod stub;
mod symbols;
mod verify;
mod versions;
mod violation;
mod write;

pub use crate::overlay::Overlay;
pub use crate::{Machine, ReadAt};
pub use edit::edit;
pub use edit_plan::EditPlan;
pub use edited::{Edited, Reader};
pub use edits::{Edits, Rename, RpathEdit};
pub use error::ElfError;
pub use exports::Export;
pub use facts::{ElfFacts, VersionNeed, facts};
pub use imports::Import;
pub use info::{ElfInfo, ElfKind, inspect, read_any};
pub use plan::plan_edit;
pub use rpath::{EntryTarget, Rpath, RpathEntry, join_entries, resolve_relative};
pub use stack::ExecutableStack;
pub use verify::{alike, compare, inherited_violations, verify};
pub use violation::Violation;
