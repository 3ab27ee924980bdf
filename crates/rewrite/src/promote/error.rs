//! Faults of packages that cannot be promoted.

use std::io;
use std::path::PathBuf;

use build::gate::GateError;
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
    /// No package has a version to change.
    #[error("{} has no package from a build of rockpack", .dir.display())]
    None {
        /// The directory.
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
        /// The version.
        version: String,
    },
    /// Unknown target.
    #[error("unknown target `{target}`: neither families.kdl nor a package has it")]
    UnknownTarget {
        /// The given target.
        target: String,
        /// A target with a similar name.
        near: Option<String>,
        /// Targets of the packages.
        have: Vec<String>,
    },
    /// No package is for a target that is kept.
    #[error("no package is for a target to keep ({})", .kept.join(", "))]
    NoOverlap {
        /// The given targets.
        kept: Vec<String>,
        /// Targets of the packages.
        have: Vec<String>,
    },
    /// Content that cannot be promoted.
    #[error("{what} in {package}")]
    Content {
        /// File name.
        package: String,
        /// Fault, with the member.
        what: String,
        /// The remedy.
        help: &'static str,
    },
    /// A package with another checksum than the listed one.
    #[error("{} does not match SHA256SUMS of its directory", .path.display())]
    Changed {
        /// The package.
        path: PathBuf,
    },
    /// A listed package that is missing.
    #[error("{package} is missing in {}, but SHA256SUMS there lists it", .dir.display())]
    Absent {
        /// Path below the directory.
        package: String,
        /// The directory.
        dir: PathBuf,
    },
    /// A package that SHA256SUMS does not list.
    #[error("{package} is in {}, but SHA256SUMS there does not list it", .dir.display())]
    Unlisted {
        /// Path below the directory.
        package: String,
        /// The directory.
        dir: PathBuf,
    },
    /// Inputs and outputs would be the same files.
    #[error("the packages are in {}, the directory of the new packages", .dir.display())]
    SameDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// Two packages would have one name.
    #[error("two packages would have the name {name}")]
    OneName {
        /// Name below the destination.
        name: String,
    },
    /// The destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// An output.
    #[error("cannot write {output}")]
    Write {
        /// Path below the destination.
        output: String,
        /// The cause.
        source: WriteError,
    },
    /// The machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Fault of an output.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A wheel.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// An sdist.
    #[error(transparent)]
    Sdist(#[from] SdistError),
    /// The archive in a devel wheel.
    #[error(transparent)]
    Archive(#[from] Fault),
    /// Unreadable file or full disk.
    #[error(transparent)]
    Io(#[from] io::Error),
}
