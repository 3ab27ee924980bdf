//! Events of a build.

use std::time::Duration;

use crate::names::RelPath;

/// Event of a build.
#[derive(Debug, Clone)]
pub enum Event {
    /// A build of packages starts.
    BuildStarted {
        /// Outputs.
        outputs: usize,
        /// Bytes of input.
        bytes: u64,
    },
    /// A build by a farm starts.
    FarmStarted {
        /// Outputs.
        outputs: usize,
        /// Bytes of input.
        bytes: u64,
    },
    /// Fetching of archives from a store starts.
    FetchStarted {
        /// Archives.
        archives: usize,
        /// Size in bytes.
        bytes: u64,
    },
    /// An archive or package is finished, successfully or not.
    ArchiveLeft {
        /// Key of the archive, or path of the package.
        path: RelPath,
    },
    /// Writing of an output, or reading of an archive, starts.
    OutputStarted {
        /// Path below the destination.
        path: RelPath,
        /// Bytes of input.
        bytes: u64,
    },
    /// Further bytes of input were processed.
    Progress {
        /// Path of the output.
        path: RelPath,
        /// Bytes since the previous event.
        bytes: u64,
    },
    /// An output is complete, under a temporary name.
    OutputFinished {
        /// Path below the destination.
        path: RelPath,
        /// Number of files in the output.
        files: usize,
        /// Size in bytes.
        size: u64,
        /// Duration.
        took: Duration,
    },
}

/// Receiver of events, called from any thread.
pub trait Reporter: Sync {
    /// Takes an event.
    fn report(&self, event: Event);
}
