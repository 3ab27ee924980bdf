/// Use of a shared cache in a build.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Address without secrets.
    pub address: String,
    /// Streams that arrived in time.
    pub hits: u64,
    /// Packed bytes of the hits.
    pub hit_bytes: u64,
    /// Requested streams that the cache lacked.
    pub misses: u64,
    /// Rejected streams: their bytes did not match their names.
    pub refused: u64,
    /// Uploaded streams.
    pub sent: u64,
    /// Packed bytes of the uploaded streams.
    pub sent_bytes: u64,
    /// Reason for which the build stopped using it.
    pub off: Option<String>,
    /// Use of a build farm, if configured.
    pub farm: Option<Farm>,
}

/// Use of a build farm in a build.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Farm {
    /// Address without secrets.
    pub address: String,
    /// Streams that the farm packed in time.
    pub packed: u64,
    /// Packed bytes of these streams.
    pub packed_bytes: u64,
    /// Streams that arrived after a local thread had started on them.
    pub late: u64,
    /// Streams that the farm failed to pack.
    pub failed: u64,
    /// First failure.
    pub why: Option<String>,
}
