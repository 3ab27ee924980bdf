//! Reader of finished packages, independent of the tool that built them.
//!
//! ```text
//! file name ─► WheelName                  zip ─WheelFile::read─► WheelFile (with its faults)
//! METADATA, PKG-INFO ─► Metadata                                  └─Wheel::open─► Wheel (without)
//! entry_points.txt ─► EntryPoints         gzipped tar ─Sdist::read─► Sdist (with its faults)
//! ```
//!
//! A deviation is a [`Fault`], which `verify` reports and other callers treat as an error. Sizes,
//! numbers of members, names and texts are limited.

pub mod content;
mod copied;
pub mod devel_archive;
pub mod directory;
pub mod entry_points;
mod error;
pub mod fault;
pub mod found;
pub mod header;
pub mod metadata;
pub mod record;
pub mod sdist;
pub mod sums;
pub mod text;
pub mod wheel;
pub mod wheel_name;
mod xz_stream;
pub mod zip_file;

pub use base::names::Requirement;
pub use content::{BufferedContent, ContentKind, FileContent};
pub use copied::{CopyError, copied};
pub use error::{OpenError, PackageError, ReadError};
pub use fault::{Fault, FaultKind};
pub use found::{FoundPackage, packages};
pub use header::Header;
pub use metadata::{FieldError, Metadata};
pub use sdist::Sdist;
pub use wheel::{Wheel, WheelFile};
pub use wheel_name::{WheelName, distribution_of};
pub use xz_stream::decoder as xz;
pub use zip_file::ZipFile;
