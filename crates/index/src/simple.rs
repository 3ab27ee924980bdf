//! Index pages for packages in a directory.
//!
//! [`STATE`] keeps size, mtime and SHA-256 of packages; only changed ones are read. Files are
//! renamed into place, link targets first; obsolete pages are deleted last.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use base::names::{PathError, RelPath};
use record::gate::{Gate, GateError};
use wheel::archive::{StageError, Timestamp};

mod anchor;
mod attestation;
mod copies;
mod document;
mod entry;
mod files_of_index;
mod foreign;
mod json;
mod layout;
mod link;
mod local;
mod package;
mod page;
mod publish;
mod published;
mod publisher;
mod read;
mod reference;
mod state;
mod update;
mod yank;

pub use attestation::{AttestationError, PROVENANCE};
pub use document::{Files, PageError, Projects, is_ours, url};
pub use entry::{CONTENT, CONTENT_ENDING, IndexedFile, Yanked, project_of};
pub(crate) use foreign::packages_on;
pub use foreign::{addresses, beyond_data};
pub use local::{Local, package_files, packages, requirements_of_sdist, strays};
pub(crate) use reference::{Link, is_absolute, resolve};
pub use state::STATE;
pub use wheel::package::PackageError;
pub(crate) use yank::Yank;

/// Data of a flat page in a store; a server could return an `index.json` for the page.
pub const RECORD: &str = "packages.json";

/// Layout of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One index for `--index-url`: `simple/{project}/`, with a page of links at the top.
    #[default]
    Simple,
    /// A page for each directory with packages, and one at the top, for `--find-links`.
    Flat,
    /// CI runs, `{run}-{platform}/python/{group}`: each group has a flat page and `simple/`, with
    /// links at the top. `python` can also have packages.
    Run,
}

/// Settings of an index.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Layout of the pages.
    pub layout: Layout,
    /// Upload time; defaults to the time of each package's newest member.
    pub time: Option<Timestamp>,
    /// Skips unreadable packages.
    pub skip_broken: bool,
    /// Replaces pages of other programs.
    pub overwrite: bool,
    /// Public address of the directory, for addresses of provenance; pages lack them without it.
    pub public: Option<String>,
    /// Packages to delete, after they left the pages.
    pub remove: BTreeSet<String>,
}

/// Counts.
#[derive(Debug, Default)]
pub struct Summary {
    /// Packages.
    pub packages: usize,
    /// Projects.
    pub projects: usize,
    /// Packages that were read: new or changed.
    pub read: usize,
    /// Changed pages.
    pub pages: usize,
    /// Deleted pages.
    pub pages_removed: usize,
    /// Other deleted files.
    pub removed: Vec<RelPath>,
    /// Packages with attestations.
    pub attested: usize,
    /// Skipped packages with the reason.
    pub skipped: Vec<(RelPath, PackageError)>,
    /// Pages for installers, sorted.
    pub entries: Vec<RelPath>,
}

/// Error of an update.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Not a directory.
    #[error("`{}` is not a directory", .path.display())]
    NotADirectory {
        /// Path.
        path: PathBuf,
    },
    /// Unreadable file.
    #[error("cannot read the packages in {}", .path.display())]
    Read {
        /// Directory.
        path: PathBuf,
        /// System error with the path.
        source: io::Error,
    },
    /// Invalid path.
    #[error("a package in {} has an invalid name", .dir.display())]
    Name {
        /// Directory.
        dir: PathBuf,
        /// Fault of the path.
        source: PathError,
    },
    /// Unreadable package.
    #[error("`{path}` is broken")]
    Broken {
        /// Package, relative to the directory.
        path: RelPath,
        /// Fault of the package.
        source: PackageError,
    },
    /// Packages that `verify` rejects.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Invalid attestation.
    #[error("`{path}` is no attestation of its package")]
    Attestation {
        /// Attestation, relative to the directory.
        path: RelPath,
        /// Fault.
        source: AttestationError,
    },
    /// Packages with one name and different content.
    #[error(
        "`{first}` and `{second}` have one file name and different content; an index cannot contain both"
    )]
    Clash {
        /// First package.
        first: RelPath,
        /// Second package.
        second: RelPath,
    },
    /// Equal packages with different yanks.
    #[error("`{path}.yanked` has another text than the yank of an equal file elsewhere")]
    YankClash {
        /// Second package.
        path: RelPath,
    },
    /// Package at a wrong place in [`Layout::Run`].
    #[error("`{path}` is not in {{run}}-{{platform}}/python or in a group below it")]
    Misplaced {
        /// Package.
        path: RelPath,
    },
    /// Path of two pages.
    #[error("`{path}` would be the page of two lists of packages")]
    PageTwice {
        /// Page.
        path: RelPath,
    },
    /// Missing package to remove.
    #[error("there is no package `{name}` to remove")]
    NotThere {
        /// File name.
        name: String,
    },
    /// Page of another program.
    #[error("`{path}` was not made by rockpack and is not replaced by a page")]
    Foreign {
        /// Page.
        path: RelPath,
    },
    /// Page with more information than the packages.
    #[error(
        "`{path}` was made by `rockpack index publish` or `rockpack index mirror`, and an update would lose information that only this page contains"
    )]
    Published {
        /// Page.
        path: RelPath,
    },
    /// Files that could not be moved.
    #[error("cannot write the index")]
    Stage(#[from] StageError),
    /// Page that could not be written.
    #[error("cannot write the index")]
    Write(#[source] io::Error),
}

impl IndexError {
    fn of_package(dir: &Path, path: &RelPath, error: PackageError) -> Self {
        match error.into_io() {
            Ok(source) => Self::Read { path: dir.to_owned(), source },
            Err(source) => Self::Broken { path: path.clone(), source },
        }
    }
}

/// Updates the index of `dir`, or leaves it unchanged after an error. Packages pass no gate.
pub fn write(dir: &Path, layout: Layout, time: Option<Timestamp>) -> Result<Summary, IndexError> {
    write_with(dir, &Options { layout, time, ..Options::default() }, None)
}

/// Updates the index. New and changed packages pass the gate.
pub fn write_with(
    dir: &Path,
    options: &Options,
    gate: Option<&Gate<'_>>,
) -> Result<Summary, IndexError> {
    update::Update::begin(dir, options, gate)?.run()
}
