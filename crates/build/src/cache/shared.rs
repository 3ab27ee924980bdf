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
    /// Streams with bytes that did not match their names.
    pub refused: u64,
    /// Uploaded streams.
    pub sent: u64,
    /// Packed bytes of the uploaded streams.
    pub sent_bytes: u64,
    /// Reason for ending its use.
    pub off: Option<String>,
    /// Use of a build farm.
    pub farm: Option<Farm>,
}

/// Use of a build farm in a build.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Farm {
    /// Address without secrets.
    pub address: String,
    /// Streams that the farm packed in time.
    pub packed: u64,
    /// Their packed bytes.
    pub packed_bytes: u64,
    /// Streams that arrived after local packing began.
    pub late: u64,
    /// Streams that the farm failed to pack.
    pub failed: u64,
    /// First failure.
    pub why: Option<String>,
}
