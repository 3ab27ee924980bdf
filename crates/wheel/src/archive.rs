//! Writers of wheels, sdists and tarballs, and the stage for atomic output.
//!
//! Equal input gives equal bytes, independent of clock, umask, hash order and number of threads.
//! Only [`stage::run_jobs_and_sync`] starts threads; callers may run [`deflate::Encoder`] and
//! [`deflate::Packed::new`] on any thread.

pub mod checksum;
pub mod deflate;
pub mod egg_info;
pub mod entry_points;
pub mod metadata;
pub mod sdist;
pub mod stage;
pub mod tarball;
pub mod timestamp;
pub mod unique_keys;
pub mod variants;
pub mod wheel;
pub mod zip;

pub use stage::{Stage, StageError};
pub use timestamp::Timestamp;
