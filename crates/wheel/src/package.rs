//! Packages that exist, whoever made them: what they are, and the one way in which each part is read.
//!
//! ```text
//! file name ─► WheelName                  zip ─WheelFile::read─► WheelFile (with its faults)
//! METADATA, PKG-INFO ─► Metadata                                  └─Wheel::open─► Wheel (without)
//! entry_points.txt ─► EntryPoints         gzipped tar ─Sdist::read─► Sdist (with its faults)
//! ```
//!
//! Reading forgives nothing and judges nothing: what is wrong is a [`Fault`] with a name, of which
//! `verify` makes a finding, and for which others refuse the package. What a package can ask for is
//! bounded: sizes, numbers of members, names, texts.

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
pub use content::{Content, ContentKind, Kept};
pub use copied::{CopyError, copied};
pub use error::{OpenError, PackageError, ReadError};
pub use fault::{Fault, FaultKind};
pub use found::{Found, packages};
pub use header::Header;
pub use metadata::{FieldError, Metadata};
pub use sdist::Sdist;
pub use wheel::{Wheel, WheelFile};
pub use wheel_name::{WheelName, distribution_of};
pub use xz_stream::decoder as xz;
pub use zip_file::ZipFile;
