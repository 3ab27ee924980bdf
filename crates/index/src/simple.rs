//! Package indexes: the pages by which pip and uv find packages that lie in a directory.
//!
//! Pages are HTML (PEP 503) and JSON (PEP 691, version 1.1 of PEP 700); beside each wheel lies its
//! METADATA (PEP 658, PEP 714), so that installers resolve without reading a wheel. Packages stay
//! where they are; pages link to them with relative URLs, so that a directory can be served from
//! anywhere, also as `file://`.
//!
//! **Incremental.** [`STATE`] remembers size, time and SHA-256 of every package: what has neither
//! another size nor another time is not opened again.
//!
//! **Atomic.** Every file appears by a rename, in an order in which what is named exists before it is
//! named: metadata, then pages of projects, then pages that lead to them. Pages that nothing names any more are
//! deleted last. A whole generation behind a symlink would not survive the copy to an object store,
//! and a reader that asks for two pages would see two generations there as well.
//!
//! **Reproducible.** Pages are a function of the packages and of the time that is given; no clock and
//! no file time gets into them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use base::names::{PathError, RelPath};
use wheel::archive::{StageError, Timestamp};

mod anchor;
mod document;
mod entry;
mod foreign;
mod found;
mod json;
mod layout;
mod link;
mod local;
mod package;
mod page;
mod publish;
mod published;
mod read;
mod state;
mod update;

pub use document::{Files, PageError, Projects, is_ours, url};
pub use entry::{IndexedFile, Yanked, project_of};
pub use foreign::{addresses, beyond_data};
pub use local::{Local, packages, requirements_of_sdist, stray_yanks};
pub use state::STATE;
pub use wheel::package::PackageError;

/// What is on a flat page of a store, as data. It has no `index` in its name, so that no server takes it for the page.
pub const RECORD: &str = "packages.json";

/// Where the pages lie, and which packages are on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One index of every package below the directory, for `--index-url`: `simple/{project}/`, with a
    /// page at the top that leads there.
    #[default]
    Simple,
    /// A page for each directory that has packages, for `--find-links`, and one at the top.
    Flat,
    /// CI runs, `{run}-{platform}/python/{group}`: each group has both, a flat page and `simple/`, and
    /// the page at the top leads to every group of every run. Packages may also lie in `python` itself.
    Run,
}

/// What to do, beyond the layout.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where the pages lie.
    pub layout: Layout,
    /// When all packages were uploaded; without it, each when its newest member is from.
    pub time: Option<Timestamp>,
    /// Leave out packages that cannot be read, in place of failing.
    pub skip_broken: bool,
    /// Replace pages that something else made.
    pub overwrite: bool,
    /// Packages to delete, by file name: they vanish from the pages first.
    pub remove: BTreeSet<String>,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Summary {
    /// Packages on the pages.
    pub packages: usize,
    /// Projects that they are of.
    pub projects: usize,
    /// Packages that were read: new ones, and those whose size or time is another.
    pub read: usize,
    /// Pages that were written; others were right already.
    pub pages: usize,
    /// Pages that were deleted.
    pub pages_removed: usize,
    /// Other files that were deleted: packages, and what lay beside them.
    pub removed: Vec<RelPath>,
    /// Packages that were left out, and why.
    pub skipped: Vec<(RelPath, PackageError)>,
    /// The pages to begin with: those that an installer is given, sorted.
    pub entries: Vec<RelPath>,
}

/// Why an index could not be written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The directory.
    #[error("`{}` is not a directory", .path.display())]
    NotADirectory {
        /// The path that was given.
        path: PathBuf,
    },
    /// Something in the directory cannot be read.
    #[error("cannot read the packages in {}", .path.display())]
    Read {
        /// The directory.
        path: PathBuf,
        /// What the system says, with the path.
        source: io::Error,
    },
    /// A package whose path no URL or RECORD could say.
    #[error("a package in {} has an impossible name", .dir.display())]
    Name {
        /// The directory.
        dir: PathBuf,
        /// What is wrong with it.
        source: PathError,
    },
    /// A package that cannot be read.
    #[error("`{path}` is broken")]
    Broken {
        /// The package, below the directory.
        path: RelPath,
        /// What is wrong with it.
        source: PackageError,
    },
    /// One file name, two contents, one index.
    #[error(
        "`{first}` and `{second}` are different packages of one file name, which one index cannot tell apart"
    )]
    Clash {
        /// One of them.
        first: RelPath,
        /// The other.
        second: RelPath,
    },
    /// In a layout of runs, a package that is in none.
    #[error("`{path}` does not lie in {{run}}-{{platform}}/python or in a group below it")]
    Misplaced {
        /// The package.
        path: RelPath,
    },
    /// A package that is to be removed and is not there.
    #[error("there is no package `{name}` to remove")]
    NotThere {
        /// The file name.
        name: String,
    },
    /// A page that is not ours to replace.
    #[error("`{path}` was not made by rockpack, and is in the way of a page")]
    Foreign {
        /// The page.
        path: RelPath,
    },
    /// A page that keeps what nothing else does: an update would lose it.
    #[error(
        "`{path}` was made by `rockpack index publish` or `rockpack index mirror`, and says more than the packages here do"
    )]
    Published {
        /// The page.
        path: RelPath,
    },
    /// The pages could not be put in place.
    #[error("cannot write the index")]
    Stage(#[from] StageError),
    /// A page could not be written.
    #[error("cannot write the index")]
    Write(#[source] io::Error),
}

/// Brings the index of the packages in `dir` up to date. `time` is when they were uploaded; without
/// it, each is from when its newest member is.
///
/// # Errors
/// When a package cannot be read, two different ones would be on one page, a page is somebody else's,
/// or the disk fails. The index is as it was then.
pub fn write(dir: &Path, layout: Layout, time: Option<Timestamp>) -> Result<Summary, IndexError> {
    write_with(dir, &Options { layout, time, ..Options::default() })
}

/// As [`write`], with every option.
///
/// # Errors
/// As [`write`].
pub fn write_with(dir: &Path, options: &Options) -> Result<Summary, IndexError> {
    update::Update::begin(dir, options)?.run()
}
