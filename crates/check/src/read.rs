//! Reader of finished packages of any maker.
//!
//! ```text
//! Wheel::open ─► members (in parts, on any thread) ─► Wheel::conclude ─► Package
//! sdist ───────────────────────────────────────────────────────────────► Package
//! package, facts ─► error, if the archive has a fault ─────────────────► Package of a Depth
//! ```
//!
//! Faults of the archive ([`wheel::package`]), of RECORD and of metadata become findings of the
//! package. Members are read once and sequentially, with memory for a few blocks and one ELF file.
//! A comparison reads less ([`Depth`]), and the bytes of files that differ again ([`contents`]).

mod algorithm;
mod archived;
mod binary;
mod content;
mod contents;
mod depth;
mod entry_points;
mod fault;
mod layout;
mod license;
mod member;
mod metadata;
mod names;
mod project;
mod reading;
mod record;
mod sdist;
mod sdist_scripts;
mod strict;
mod texts;
mod uploads;
mod variants;
mod wheel;

pub use contents::contents;
pub use depth::{Depth, METADATA, is_outlined};
pub use member::Member;
pub use sdist::sdist;
pub use strict::{facts, package};
pub use variants::variants_beside;
pub use wheel::Wheel;
