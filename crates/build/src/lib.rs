//! Execution of plans: writes packages, checksums and provenance. An output has its final name only
//! when complete. Plans decide the content of packages.

pub mod assemble;
pub mod assignment;
pub mod cache;
pub mod content;
pub mod execute;
pub mod gate;
pub mod provenance;
pub mod recorded;
pub mod since;
