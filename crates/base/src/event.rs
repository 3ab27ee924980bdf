//! Events of a build, for progress, traces and logs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::names::RelPath;

/// Version of the format of [`Record`].
pub const FORMAT: u32 = 1;

/// Event with its time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Record<'e> {
    /// Seconds since the start of the command.
    #[serde(serialize_with = "seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "f64"))]
    pub time: Duration,
    /// The event.
    #[serde(flatten)]
    pub event: &'e Event,
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e6)
}

/// Event of a build.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Event {
    /// The command starts.
    Started {
        /// Version of this format.
        format: u32,
        /// Version of rockpack.
        rockpack: String,
    },
    /// A phase starts, and the previous one is over.
    PhaseStarted {
        /// The phase.
        phase: Phase,
    },
    /// Code of projects runs behind these walls.
    WallsStand {
        /// `namespaces`, `landlock` (`landlock-files`, `landlock-network` in parts), `seccomp`.
        walls: Vec<String>,
        /// Reason without namespaces.
        #[serde(skip_serializing_if = "Option::is_none")]
        without_namespaces: Option<String>,
    },
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
        /// Duration in seconds.
        #[serde(serialize_with = "seconds")]
        #[cfg_attr(feature = "schemas", schemars(with = "f64"))]
        took: Duration,
    },
    /// A worker finished a piece of work.
    Worked(Work),
    /// The cache was used.
    CacheUsed {
        /// Members and blocks that the cache had.
        hits: u64,
        /// Their packed bytes.
        hit_bytes: u64,
        /// Members and blocks that it lacked.
        misses: u64,
        /// New members and blocks.
        added: u64,
        /// Their packed bytes.
        added_bytes: u64,
    },
    /// A request to a store, the shared cache or the build farm ended.
    Requested(Request),
    /// A problem was reported.
    Reported {
        /// `error`, `warning` or `note`.
        severity: String,
        /// Code, as in `schema/problems.md`.
        code: String,
        /// Message.
        message: String,
    },
    /// The command ends.
    Ended {
        /// Exit status is 0.
        successful: bool,
        /// Written outputs.
        outputs: usize,
        /// Their bytes.
        size: u64,
        /// Sum of all requests.
        traffic: Traffic,
    },
}

/// Phase of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Phase {
    /// Reads artifacts.
    Artifacts,
    /// Plans packages.
    Plan,
    /// Edits and packs files.
    Packages,
    /// Builds Python projects.
    Projects,
}

impl Phase {
    /// Text for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Artifacts => "reading artifacts",
            Self::Plan => "planning",
            Self::Packages => "packing",
            Self::Projects => "building projects",
        }
    }

    /// Name of the phase in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Artifacts => "artifacts",
            Self::Plan => "plan",
            Self::Packages => "packages",
            Self::Projects => "projects",
        }
    }
}

/// Name of an output without version, with the directory unless that is `dist`.
pub fn output_name(path: &RelPath) -> &str {
    let name = path.file_name();
    let path = path.as_str().strip_prefix("dist/").unwrap_or(path.as_str());
    let version = name.find('-').map_or(0, |dash| name.len() - dash);
    &path[..path.len() - version]
}

/// One try of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub struct Request {
    /// Method of HTTP, or call of the Remote Execution API.
    pub method: String,
    /// Address of the server, without user and password.
    pub host: String,
    /// Path of the URL, without the query; empty for the Remote Execution API.
    pub path: String,
    /// Status of HTTP or gRPC, or `no answer`.
    pub status: String,
    /// Earlier tries.
    pub retry: u32,
    /// Sent bytes, without headers.
    pub sent: u64,
    /// Received bytes, without headers.
    pub received: u64,
    /// Duration in seconds.
    #[serde(serialize_with = "seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "f64"))]
    pub took: Duration,
}

/// Sum of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub struct Traffic {
    /// Requests, with repeated ones.
    pub requests: u64,
    /// Repeated requests.
    pub retries: u64,
    /// Sent bytes.
    pub sent: u64,
    /// Received bytes.
    pub received: u64,
}

impl Traffic {
    /// Adds a request.
    pub fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.retries += u64::from(request.retry > 0);
        self.sent += request.sent;
        self.received += request.received;
    }
}

/// Continuous work of one worker.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub struct Work {
    /// Number of the worker, from 0.
    pub worker: usize,
    /// Kind of work.
    pub kind: WorkKind,
    /// Start, in seconds since packing began.
    #[serde(serialize_with = "seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "f64"))]
    pub start: Duration,
    /// Duration in seconds.
    #[serde(serialize_with = "seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "f64"))]
    pub took: Duration,
    /// Processed bytes.
    pub bytes: u64,
    /// Path of the package below the destination.
    pub package: String,
    /// Path in the package, or the package's path.
    pub file: String,
}

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum WorkKind {
    /// Reads artifacts.
    Read,
    /// Plans and proves ELF edits.
    Edit,
    /// Computes CRC-32 and SHA-256.
    Hash,
    /// Deflates.
    Deflate,
    /// Compresses with xz.
    Xz,
    /// Writes archives.
    Write,
    /// Waits for work.
    Idle,
}

impl WorkKind {
    /// All kinds, in the order of processing.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Edit, Self::Hash, Self::Deflate, Self::Xz, Self::Write, Self::Idle];

    /// Name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Hash => "hash",
            Self::Deflate => "deflate",
            Self::Xz => "xz",
            Self::Write => "write",
            Self::Idle => "idle",
        }
    }
}

/// Receiver of events, called from any thread.
pub trait Reporter: Sync {
    /// Takes an event.
    fn report(&self, event: Event);
}

/// Receiver of the events of clients.
#[derive(Clone)]
pub struct Listener(Arc<dyn Reporter + Send + Sync>);

impl Listener {
    /// Sends events to `reporter`.
    pub fn new(reporter: impl Reporter + Send + 'static) -> Self {
        Self(Arc::new(reporter))
    }

    /// Reports a request.
    pub fn requested(&self, request: Request) {
        self.0.report(Event::Requested(request));
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
