//! Execution of plans: writes packages, checksums and provenance. An output has its final name only
//! when complete. Plans decide the content of packages.

pub mod assemble;
pub mod execute;
pub mod provenance;
pub mod sbom;
pub mod since;
