//! Reader of finished packages of any maker.
//!
//! ```text
//! Wheel::open ─► members (in parts, on any thread) ─► Wheel::conclude ─► Package
//! sdist ───────────────────────────────────────────────────────────────► Package
//! ```
//!
//! Faults of the archive ([`wheel::package`]), of RECORD and of metadata become findings of the package. Members are
//! read once and sequentially, with memory for a few blocks and one ELF file.

mod algorithm;
mod archived;
mod binary;
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
mod uploads;
mod variants;
mod wheel;

pub use member::Member;
pub use sdist::sdist;
pub use variants::variants_beside;
pub use wheel::{Wheel, facts};
