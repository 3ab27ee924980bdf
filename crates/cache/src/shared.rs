/// Use of a shared cache.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Address without secrets.
    pub address: String,
    /// Streams that arrived in time.
    pub hits: u64,
    /// Their packed bytes.
    pub hit_bytes: u64,
    /// Missing streams.
    pub misses: u64,
    /// Streams with wrong bytes.
    pub refused: u64,
    /// Blobs that do not match their digests.
    pub damaged: u64,
    /// Uploaded streams that replace damaged blobs.
    pub replaced: u64,
    /// Uploaded streams.
    pub sent: u64,
    /// Their packed bytes.
    pub sent_bytes: u64,
    /// Reason for ending its use.
    pub off: Option<String>,
    /// Use of a build farm.
    pub farm: Option<Farm>,
}

/// Use of a build farm.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Farm {
    /// Address without secrets.
    pub address: String,
    /// Streams packed in time.
    pub packed: u64,
    /// Their packed bytes.
    pub packed_bytes: u64,
    /// Streams that arrived late.
    pub late: u64,
    /// Failed streams.
    pub failed: u64,
    /// First failure.
    pub why: Option<String>,
}
