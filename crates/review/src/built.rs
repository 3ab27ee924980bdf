//! Reads finished packages for comparison with a plan. Bytes outside of the zip directory are only
//! read for rpaths, generated texts and devel archives.

use std::collections::BTreeMap;

use ::wheel::package::{Found, OpenError, PackageError, ReadError};
use base::names::{DistName, RelPath};
use base::version::Version;
use plan::{Form, Metadata, Step, WheelVariant};

mod member;
mod sdist;
mod wheel;

/// A finished package.
#[derive(Debug, Clone)]
pub struct Built {
    /// Directory: `dist`, or `dist/FAMILY`.
    pub directory: RelPath,
    /// Wheel or sdist.
    pub form: Form,
    /// Name in the metadata.
    pub name: DistName,
    /// Version.
    pub version: Version,
    /// Label and `variant.json` of a wheel variant.
    pub wheel_variant: Option<WheelVariant>,
    /// Platform tag; several are joined with `.`.
    pub platform_tag: Option<String>,
    /// Import package.
    pub module: Option<String>,
    /// Platform directory.
    pub platform_dir: Option<String>,
    /// Bytes of its file.
    pub packed: u64,
    /// Wheel members are deflated.
    pub compressed: bool,
    /// Devel archive.
    pub archive: Option<RelPath>,
    /// Metadata.
    pub metadata: Metadata,
    /// Console scripts with targets.
    pub entry_points: BTreeMap<String, String>,
    /// Files, including archived ones.
    pub files: Vec<BuiltFile>,
}

/// File of a package.
#[derive(Debug, Clone)]
pub struct BuiltFile {
    /// Path relative to site-packages, an sdist's top directory, or for licence texts, the licence
    /// directory.
    pub path: String,
    /// Licence text.
    pub license: bool,
    /// Type and content.
    pub content: BuiltContent,
    /// Size in bytes.
    pub size: u64,
    /// An execute bit is set.
    pub executable: bool,
}

/// Type and content of a file.
#[derive(Debug, Clone)]
pub enum BuiltContent {
    /// Regular file.
    Bytes(Bytes),
    /// Link with its text.
    Link(String),
    /// Directory.
    Directory,
}

/// Facts about a file's bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    /// CRC-32, as in zip.
    pub crc32: u32,
    /// Text of a small file outside the platform directory.
    pub text: Option<String>,
    /// Search path.
    pub search: Option<Search>,
    /// Step that makes these bytes.
    pub made: Option<Step>,
}

/// Search path of an ELF file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
}

impl Search {
    /// The loader's value: `DT_RUNPATH` disables `DT_RPATH` (`ld.so(8)`).
    pub fn effective(&self) -> &str {
        self.runpath.as_deref().or(self.rpath.as_deref()).unwrap_or_default()
    }
}

/// Reads a wheel or sdist.
pub fn read(found: &Found) -> Result<Built, ReadError> {
    read_to(found, Depth::Whole)
}

/// Reads a package without the bytes of most files: these have only size and CRC-32, and a devel
/// archive is one file. The members that [`is_outlined`] names are enough.
///
/// # Errors
/// As [`read`].
pub fn outline(found: &Found) -> Result<Built, ReadError> {
    read_to(found, Depth::Outline)
}

pub use self::wheel::is_outlined;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Whole,
    Outline,
}

fn read_to(found: &Found, depth: Depth) -> Result<Built, ReadError> {
    let (what, read) = match found.form {
        Form::Wheel => ("wheel", wheel::read(&found.path, &found.directory, depth)),
        Form::Sdist => ("sdist", sdist::read(&found.path, &found.directory)),
    };
    read.map_err(|source| match source {
        PackageError::Wheel(OpenError::Zip { path, reason }) => {
            ReadError::Package { path, what, source: PackageError::Zip(reason) }
        }
        PackageError::Wheel(error) => ReadError::Wheel(error),
        source => ReadError::Package { path: found.path.clone(), what, source },
    })
}
