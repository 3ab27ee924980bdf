//! Reads finished packages for comparison with a plan. Paths, sizes and checksums come from the zip
//! directory; bytes are only read for rpaths, generated texts, and a devel wheel's archive.

use std::collections::BTreeMap;

use crate::{Form, Metadata, Step, WheelVariant};
use ::wheel::package::{Found, OpenError, PackageError, ReadError};
use base::names::{DistName, RelPath};
use base::version::Version;

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
    /// Name, as in the metadata.
    pub name: DistName,
    /// Version.
    pub version: Version,
    /// Label and `variant.json` of one of several wheels with this name.
    pub wheel_variant: Option<WheelVariant>,
    /// Platform tag of a wheel; several tags are joined with `.`.
    pub platform_tag: Option<String>,
    /// Import package, if recorded.
    pub module: Option<String>,
    /// Platform directory, if recorded.
    pub platform_dir: Option<String>,
    /// The members of the wheel are deflated.
    pub compressed: bool,
    /// Archive of a devel wheel.
    pub archive: Option<RelPath>,
    /// Content of the metadata file.
    pub metadata: Metadata,
    /// Console scripts and their targets.
    pub entry_points: BTreeMap<String, String>,
    /// Files, including the files in the archive.
    pub files: Vec<BuiltFile>,
}

/// One file of a package.
#[derive(Debug, Clone)]
pub struct BuiltFile {
    /// Path relative to site-packages or an sdist's top directory; for licence texts, to the
    /// licence directory.
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
    /// A regular file.
    Bytes(Bytes),
    /// A symbolic link with its text.
    Link(String),
    /// A directory.
    Directory,
}

/// Facts about a file's bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    /// CRC-32, as in zip.
    pub crc32: u32,
    /// Text of a small file outside of the platform directory.
    pub text: Option<String>,
    /// Search path of an ELF file.
    pub search: Option<Search>,
    /// Step that makes exactly these bytes.
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

/// Reads one package; fails for anything but a wheel or sdist.
pub fn read(found: &Found) -> Result<Built, ReadError> {
    let (what, read) = match found.form {
        Form::Wheel => ("wheel", wheel::read(&found.path, &found.directory)),
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
