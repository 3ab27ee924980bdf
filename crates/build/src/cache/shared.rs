//! What a cache that machines share did for a build.

/// What a cache that machines share did for a build.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Its address, without anything secret.
    pub address: String,
    /// How many streams came in time to be used.
    pub hits: u64,
    /// The packed bytes of those.
    pub hit_bytes: u64,
    /// How many it was asked for and did not have.
    pub misses: u64,
    /// How many had to be refused: they were not what their names say.
    pub refused: u64,
    /// How many streams it was given.
    pub sent: u64,
    /// The packed bytes of those.
    pub sent_bytes: u64,
    /// Why it was not used to the end.
    pub off: Option<String>,
    /// What a build farm did, where there is one.
    pub farm: Option<Farm>,
}

/// What a build farm did for a build.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Farm {
    /// Its address, without anything secret.
    pub address: String,
    /// How many streams it packed in time to be used.
    pub packed: u64,
    /// The packed bytes of those.
    pub packed_bytes: u64,
    /// How many came too late: threads got to them first.
    pub late: u64,
    /// How many it was given and failed to pack.
    pub failed: u64,
    /// Why it failed first.
    pub why: Option<String>,
}
