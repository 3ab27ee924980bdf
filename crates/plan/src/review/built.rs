//! Packages as far as a plan promises something of them.
//!
//! What a wheel's directory says of its members is taken from there. Their bytes are looked at
//! where it matters: ELF files for where they search libraries, generated texts, and the archive
//! in a devel wheel, which is read from front to back.

use std::collections::BTreeMap;

use crate::{Form, Metadata, Step, WheelVariant};
use ::wheel::package::{Found, OpenError, PackageError, ReadError};
use base::names::{DistName, RelPath};
use base::version::Version;

mod member;
mod sdist;
mod wheel;

/// A package as it was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// Where it lies: `dist`, or `dist/FAMILY`.
    pub directory: RelPath,
    /// A wheel or an sdist.
    pub form: Form,
    /// The distribution's name, as its metadata spells it.
    pub name: DistName,
    /// Its version.
    pub version: Version,
    /// Which of several wheels of its name it is, with the text of `variant.json`.
    pub wheel_variant: Option<WheelVariant>,
    /// A wheel's platform tag; several with `.` between.
    pub platform_tag: Option<String>,
    /// The import package, where the package says so.
    pub module: Option<String>,
    /// The platform directory, where the package says so.
    pub platform_dir: Option<String>,
    /// Whether a wheel's members are deflated.
    pub compressed: bool,
    /// The archive in a devel wheel.
    pub archive: Option<RelPath>,
    /// What its metadata says.
    pub metadata: Metadata,
    /// Console scripts and what they start.
    pub entry_points: BTreeMap<String, String>,
    /// Its files, and those of the archive in it.
    pub files: Vec<BuiltFile>,
}

/// One file of a package.
#[derive(Debug, Clone)]
pub struct BuiltFile {
    /// Below site-packages or the top of an sdist; of a licence text below the metadata's licences.
    pub path: String,
    /// Whether it is a licence text.
    pub license: bool,
    /// What it is.
    pub content: BuiltContent,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it may be executed.
    pub executable: bool,
}

/// What one file of a package is.
#[derive(Debug, Clone)]
pub enum BuiltContent {
    /// A file.
    Bytes(Bytes),
    /// A symbolic link with this text.
    Link(String),
    /// A directory.
    Directory,
}

/// What is kept of the bytes of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Their CRC-32 (as in zip).
    pub crc32: u32,
    /// The text, of small files outside the platform directory.
    pub text: Option<String>,
    /// Of an ELF file, where it looks for libraries.
    pub search: Option<Search>,
    /// The step that makes exactly these bytes, of stubs and forwarding libraries.
    pub made: Option<Step>,
}

/// Where an ELF file looks for libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
}

impl Search {
    /// The tag that counts (`ld.so(8)`: `DT_RUNPATH` disables `DT_RPATH`).
    pub fn effective(&self) -> &str {
        self.runpath.as_deref().or(self.rpath.as_deref()).unwrap_or_default()
    }
}

/// Reads one package.
///
/// # Errors
/// When the file cannot be read, or is no wheel or sdist.
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
