//! Records of finished packages: contents, checksums, provenance, and the gate of directories and
//! stores.
//!
//! Takes packages and facts of the run that made them as data; knows no plan.

pub mod assignment;
pub mod content;
pub mod gate;
pub mod provenance;
mod published;
pub mod recorded;
pub mod sbom;

pub use published::Published;
