//! Why wheels cannot be split.

use std::io;

use super::stuck::Stuck;
use base::names::PathError;
use base::source::Problems;
use build::gate::GateError;
use wheel::archive::StageError;
use wheel::edit::EditError;
use wheel::package::{OpenError, ReadError};

/// Why nothing was split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// What is wrong with the wheels, or with what is said of them.
    #[error("the wheels cannot be split")]
    Refused(Problems),
    /// A wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The packages beside.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// An output.
    #[error("cannot write {output}")]
    Write {
        /// Its path below the destination.
        output: String,
        /// What failed.
        source: EditError,
    },
    /// A path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The machine.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Stuck> for SplitError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Io(error) => Self::Io(error),
            Stuck::Open(error) => Self::Open(error),
            other => Self::Io(io::Error::other(other)),
        }
    }
}
