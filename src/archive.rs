//! Containers: zip, tar, gzip and xz are read here; wheels, sdists and tarballs are written, on a stage
//! on which they appear whole or not at all.
//!
//! Everything here gives the same bytes for the same input: no clock, no umask, no order of a
//! hash table, no number of threads gets into an archive. Nothing here starts a thread of its
//! own; what is worth doing in parallel is a pure function that a caller may run anywhere
//! ([`deflate::Encoder`], [`deflate::Packed::new`]).

pub mod checksum;
pub mod deflate;
pub mod directory;
pub mod entry_points;
pub mod metadata;
pub mod sdist;
pub mod stage;
pub mod tar_stream;
pub mod tarball;
pub mod timestamp;
pub mod wheel;
pub mod xz_stream;
pub mod zip;
pub mod zip_file;

pub use stage::{Stage, StageError};
pub use tar_stream::TarStream;
pub use timestamp::Timestamp;
pub use zip_file::ZipFile;
