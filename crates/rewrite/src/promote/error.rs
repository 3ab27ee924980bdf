//! Faults of packages that cannot be promoted.

use std::io;
use std::path::PathBuf;

use record::gate::GateError;
use wheel::archive::StageError;
use wheel::archive::sdist::SdistError;
use wheel::edit::{EditError, Fault};
use wheel::package::{OpenError, ReadError};

/// Fault of a promotion.
#[derive(Debug, thiserror::Error)]
pub enum PromoteError {
    /// Unreadable directory or package.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Unreadable wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// No version to change.
    #[error("{} has no package of the manifest", .dir.display())]
    None {
        /// Directory.
        dir: PathBuf,
    },
    /// Packages of two versions.
    #[error("{} has version {}, but {} has {}", .packages.0, .versions.0, .packages.1, .versions.1)]
    Mixed {
        /// Two packages.
        packages: Box<(String, String)>,
        /// Their versions.
        versions: Box<(String, String)>,
    },
    /// Nothing to change.
    #[error("the packages already have version {version}")]
    Same {
        /// Version.
        version: String,
    },
    /// Unknown target.
    #[error("unknown target `{target}`: neither families.kdl nor a package has it")]
    UnknownTarget {
        /// Given target.
        target: String,
        /// Similar target.
        near: Option<String>,
        /// Packages' targets.
        have: Vec<String>,
    },
    /// No kept target has a package.
    #[error("no package is for a target to keep ({})", .kept.join(", "))]
    NoOverlap {
        /// Given targets.
        kept: Vec<String>,
        /// Packages' targets.
        have: Vec<String>,
    },
    /// Content that cannot be promoted.
    #[error("{what} in {package}")]
    Content {
        /// File name.
        package: String,
        /// Fault, with the member.
        what: String,
        /// Remedy.
        help: &'static str,
    },
    /// Wrong checksum.
    #[error("{} does not match SHA256SUMS of its directory", .path.display())]
    Changed {
        /// Package.
        path: PathBuf,
    },
    /// Missing package.
    #[error("{package} is missing in {}, but SHA256SUMS there lists it", .dir.display())]
    Absent {
        /// Path below the directory.
        package: String,
        /// Directory.
        dir: PathBuf,
    },
    /// Statement that does not describe the packages.
    #[error("{}: {what} ({detail})", .path.display())]
    Provenance {
        /// Statement.
        path: PathBuf,
        /// Fault.
        what: &'static str,
        /// Package or detail.
        detail: String,
    },
    /// Unlisted package.
    #[error("{package} is in {}, but SHA256SUMS there does not list it", .dir.display())]
    Unlisted {
        /// Path below the directory.
        package: String,
        /// Directory.
        dir: PathBuf,
    },
    /// Equal input and output directory.
    #[error("the packages are in {}, the directory of the new packages", .dir.display())]
    SameDirectory {
        /// Directory.
        dir: PathBuf,
    },
    /// Packages with one name.
    #[error("two packages would have the name {name}")]
    OneName {
        /// Name below the destination.
        name: String,
    },
    /// Destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Output.
    #[error("cannot write {output}")]
    Write {
        /// Path below the destination.
        output: String,
        /// Cause.
        source: WriteError,
    },
    /// System.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Fault of an output.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Wheel.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Sdist.
    #[error(transparent)]
    Sdist(#[from] SdistError),
    /// Devel archive.
    #[error(transparent)]
    Archive(#[from] Fault),
    /// Unreadable file or full disk.
    #[error(transparent)]
    Io(#[from] io::Error),
}
