use std::io;

use binary::device_code::BundleError;
use binary::fat::FatError;
use wheel::package::OpenError;

#[derive(Debug, thiserror::Error)]
pub(super) enum Stuck {
    #[error(transparent)]
    Fat(#[from] FatError),
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A target without a wheel.
    #[error("it has code for {0}, which families.kdl does not declare")]
    Target(String),
    /// A path that installation changes.
    #[error("installers place it outside of the root, from where its archive cannot be found")]
    Moved,
    #[error("it needs {library}, of a runtime that does not read archives of code")]
    Older { library: String },
    #[error("it needs no library of a runtime that reads archives of code: {libraries}")]
    Runtime { libraries: String },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl Stuck {
    /// False for a fault of the machine.
    pub(crate) fn is_about_the_file(&self) -> bool {
        match self {
            Self::Fat(error) => !error.is_of_the_system(),
            Self::Bundle(error) => !matches!(error, BundleError::Io(_)),
            Self::Target(_) | Self::Moved | Self::Older { .. } | Self::Runtime { .. } => true,
            Self::Io(_) | Self::Open(_) => false,
        }
    }
}
