//! Reads packages that were built, as far as a plan promises something of them.
//!
//! What a wheel's directory says of its members is taken from there. Their bytes are looked at
//! where it matters: ELF files for where they search libraries, generated texts, and the archive
//! in a devel wheel, which is read from front to back.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::archive::directory::DirectoryError;
use crate::names::{DistName, NameError, PathError, RelPath};
use crate::plan::{Form, Metadata};
use crate::review::diff::{Area, Bytes, Content, Contents, File, Package};
use crate::version::{Version, VersionError};

mod find;
mod member;
mod metadata;
mod sdist;
mod tar;
mod wheel;

pub use find::{Found, packages};

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
    /// `Provides-Extra`.
    pub extras: Vec<String>,
    /// Console scripts and what they start.
    pub entry_points: BTreeMap<String, String>,
    /// Its files, and those of the archive in it.
    files: Vec<Member>,
}

/// One file of a package.
#[derive(Debug, Clone)]
struct Member {
    /// Below site-packages or the top of an sdist; of a licence text below the metadata's licences.
    path: String,
    license: bool,
    kind: Kind,
    size: u64,
    executable: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Bytes(Bytes),
    Link(String),
    Directory,
}

/// Why packages could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// A directory could not be listed, or a file not be opened.
    #[error("cannot read built packages")]
    Read(#[from] io::Error),
    /// There is nothing to compare in a directory.
    #[error("{} has no built packages: no .whl and no .tar.gz, neither there nor in a directory in it", .0.display())]
    Empty(PathBuf),
    /// A package is not what its name says, or is cut short.
    #[error("{} cannot be read as a {what}", .path.display())]
    Package {
        /// The file.
        path: PathBuf,
        /// `wheel` or `sdist`.
        what: &'static str,
        /// What is wrong with it.
        source: PackageError,
    },
}

/// What is wrong with a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The zip.
    #[error(transparent)]
    Zip(#[from] DirectoryError),
    /// A member could not be read.
    #[error("`{name}` cannot be read")]
    Member {
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// A file without which it is no package.
    #[error("it has no `{0}`")]
    Missing(&'static str),
    /// A field of the metadata is missing or not there once.
    #[error("its metadata has no `{0}`")]
    Field(&'static str),
    /// A malformed name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A malformed version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// A malformed path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The file itself.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads one package.
///
/// # Errors
/// When the file cannot be read, or is no wheel or sdist.
pub fn read(found: &Found) -> Result<Built, InspectError> {
    let (what, read) = match found.form {
        Form::Wheel => ("wheel", wheel::read(&found.path, &found.directory)),
        Form::Sdist => ("sdist", sdist::read(&found.path, &found.directory)),
    };
    read.map_err(|source| InspectError::Package { path: found.path.clone(), what, source })
}

/// What packages hold, for comparison.
pub fn contents(label: impl Into<String>, built: &[Built]) -> Contents<'_> {
    let tags = built.iter().filter_map(|b| b.platform_tag.as_deref());
    Contents {
        label: label.into(),
        version: all_the_same(built.iter().map(|b| &b.version)),
        mode: None,
        platform_tag: all_the_same(tags),
        packages: built.iter().map(package).collect(),
        unowned: None,
        notes: None,
        warnings: None,
    }
}

fn all_the_same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

fn package(built: &Built) -> Package<'_> {
    Package {
        package: None,
        variant: None,
        name: &built.name,
        form: built.form,
        directory: &built.directory,
        version: &built.version,
        platform_tag: built.platform_tag.as_deref(),
        module: built.module.as_deref(),
        platform_dir: built.platform_dir.as_deref(),
        compressed: built.compressed,
        archive: built.archive.as_ref(),
        metadata: &built.metadata,
        extras: &built.extras,
        entry_points: &built.entry_points,
        files: built.files.iter().map(|member| file(member, built)).collect(),
        absent: None,
    }
}

fn file<'a>(member: &'a Member, built: &'a Built) -> File<'a> {
    let (area, path) = if member.license {
        (Area::License, member.path.as_str())
    } else {
        File::placed(&member.path, built.module.as_deref(), built.platform_dir.as_deref())
    };
    let content = match &member.kind {
        Kind::Bytes(bytes) => Content::Built(bytes),
        Kind::Link(target) => Content::Link(target),
        Kind::Directory => Content::Directory,
    };
    File { area, path, content, size: member.size, executable: member.executable, rule: None }
}

/// Whether a path names a package, by its ending.
fn form(path: &Path) -> Option<Form> {
    let name = path.file_name()?.to_str()?;
    let wheel = path.extension().is_some_and(|e| e == "whl");
    if wheel { Some(Form::Wheel) } else { name.ends_with(".tar.gz").then_some(Form::Sdist) }
}
