//! Writers of wheels, sdists and tarballs, and the stage on which they appear whole or not at all.
//!
//! Everything here gives the same bytes for the same input: no clock, no umask, no order of a
//! hash table, no number of threads gets into an archive. Nothing here starts a thread of its
//! own but [`stage::written`]; what is worth doing in parallel is a pure function that a caller may
//! run anywhere ([`deflate::Encoder`], [`deflate::Packed::new`]).

pub mod checksum;
pub mod deflate;
pub mod egg_info;
pub mod entry_points;
pub mod metadata;
pub mod sdist;
pub mod stage;
pub mod tarball;
pub mod timestamp;
pub mod variants;
pub mod wheel;
pub mod zip;

pub use stage::{Stage, StageError};
pub use timestamp::Timestamp;
