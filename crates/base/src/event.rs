//! What happens during a build, as data. The library reports events; the binary draws them.

use std::time::Duration;

use crate::names::RelPath;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Packages of this many bytes of input will be written.
    BuildStarted {
        /// How many files come out.
        outputs: usize,
        /// Bytes read from the artifacts, all outputs together.
        bytes: u64,
    },
    /// A build farm will build packages of this many bytes of input.
    FarmStarted {
        /// How many files come out.
        outputs: usize,
        /// Bytes that go into them, all together.
        bytes: u64,
    },
    /// Archives of this many bytes will be read from a store.
    FetchStarted {
        /// How many.
        archives: usize,
        /// Their bytes, all together.
        bytes: u64,
    },
    /// An archive is read no more, whatever came of it; or a package is not waited for any more.
    ArchiveLeft {
        /// The archive's key, or the package's path.
        path: RelPath,
    },
    /// Writing one output, or reading one archive, has begun.
    OutputStarted {
        /// Its path below the destination.
        path: RelPath,
        /// Bytes of input that go into it.
        bytes: u64,
    },
    /// Bytes of input were dealt with since the last of these events.
    Progress {
        /// The output that they are of.
        path: RelPath,
        /// How many.
        bytes: u64,
    },
    /// One output is complete, not yet under its final name.
    OutputFinished {
        /// Its path below the destination.
        path: RelPath,
        /// Files that are in it.
        files: usize,
        /// Its size in bytes.
        size: u64,
        /// How long it took.
        took: Duration,
    },
}

/// Who wants to know. Called from any thread.
pub trait Reporter: Sync {
    /// Takes one event.
    fn report(&self, event: Event);
}
