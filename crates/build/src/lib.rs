//! Execution of plans.
//!
//! Takes a plan and a source of artifact bytes; returns packages, checksums and a provenance
//! statement. An output exists under its final name only when it is complete. Never decides the
//! content of a package.

pub mod assemble;
pub mod assignment;
pub mod cache;
pub mod content;
pub mod execute;
pub mod gate;
pub mod provenance;
pub mod recorded;
pub mod since;
