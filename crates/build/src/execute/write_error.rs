use std::io;

use super::pack::PackError;
use base::names::{PathError, RelPath};
use wheel::archive::entry_points::EntryPointError;
use wheel::archive::metadata;
use wheel::archive::sdist::SdistError;
use wheel::archive::tarball::{TarError, XzError};
use wheel::archive::wheel::WheelError;

#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error(transparent)]
    Wheel(#[from] WheelError),
    #[error("cannot read `{name}`")]
    Read { name: RelPath, source: io::Error },
    #[error("cannot lay out the archive in the wheel")]
    Tar(#[from] TarError),
    #[error("cannot compress `{name}`")]
    Compress { name: RelPath, source: XzError },
    #[error("cannot read `{name}` from the cache")]
    Cache { name: RelPath, source: io::Error },
    #[error("cannot write the metadata")]
    Metadata(#[from] metadata::MetadataError),
    #[error("cannot write the console scripts")]
    EntryPoints(#[from] EntryPointError),
    #[error(transparent)]
    Sdist(#[from] SdistError),
    #[error("cannot name the metadata directory")]
    Path(#[from] PathError),
    #[error("cannot write to the disk")]
    Io(#[from] io::Error),
}

impl From<PackError> for WriteError {
    fn from(error: PackError) -> Self {
        match error {
            PackError::Read { name, source } => Self::Read { name, source },
            PackError::Compress { name, source } => Self::Compress { name, source },
            PackError::Cache { name, source } => Self::Cache { name, source },
        }
    }
}
