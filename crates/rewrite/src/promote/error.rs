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
    /// The directory, or a package in it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// No package in the directory has a version that could be another.
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
    /// There is nothing to do.
    #[error("the packages already have version {version}")]
    Same {
        /// The version.
        version: String,
    },
    /// A target that nobody knows.
    #[error("unknown target `{target}`: neither families.kdl nor a package has it")]
    UnknownTarget {
        /// The target, as it was given.
        target: String,
        /// A target with a similar name.
        near: Option<String>,
        /// The targets that the packages have.
        have: Vec<String>,
    },
    /// No package is for a target that is kept.
    #[error("no package is for a target to keep ({})", .kept.join(", "))]
    NoOverlap {
        /// The targets, as they were given.
        kept: Vec<String>,
        /// The targets that the packages have.
        have: Vec<String>,
    },
    /// Something in a package that cannot be promoted.
    #[error("{what} in {package}")]
    Content {
        /// The package's file name.
        package: String,
        /// The fault, with the member.
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
    /// A package that was built with the others and is not there.
    #[error("{package} is missing in {}, but SHA256SUMS there lists it", .dir.display())]
    Absent {
        /// Its path below the directory.
        package: String,
        /// The directory.
        dir: PathBuf,
    },
    /// A package that was not built with the others.
    #[error("{package} is in {}, but SHA256SUMS there does not list it", .dir.display())]
    Unlisted {
        /// Its path below the directory.
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
        /// The name, below the destination.
        name: String,
    },
    /// The destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// An output.
    #[error("cannot write {output}")]
    Write {
        /// Its path below the destination.
        output: String,
        /// The cause.
        source: WriteError,
    },
    /// The machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Fault of an output that cannot be written.
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
    /// A file that is read, or the disk.
    #[error(transparent)]
    Io(#[from] io::Error),
}
