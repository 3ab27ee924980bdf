//! Packages made from finished packages: promotion to another version, splits by device code.
//!
//! Takes finished packages; returns the packages that a build would have made. Never reads
//! artifacts.

pub mod promote;
pub mod release;
/// Written packages of a promotion or split.
pub mod rewritten;
pub mod split;
