//! Packages made from finished packages, as by a build: promotion to another version, splits by
//! device code. Never reads artifacts.

pub mod promote;
pub mod release;
/// Written packages of a promotion or split.
pub mod rewritten;
pub mod split;
