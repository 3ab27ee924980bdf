use std::io;

use super::stuck::Stuck;
use base::names::PathError;
use base::source::Problems;
use record::gate::GateError;
use wheel::archive::StageError;
use wheel::edit::EditError;
use wheel::package::{OpenError, ReadError};

/// Fault of a split; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// Problems of wheels or their lines.
    #[error("the wheels cannot be split")]
    Refused(Problems),
    /// A wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Packages that `verify` refuses.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Built packages.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Output.
    #[error("cannot write {output}")]
    Write {
        /// Path below the destination.
        output: String,
        /// Cause.
        source: EditError,
    },
    /// Path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// System.
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
