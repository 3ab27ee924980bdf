//! Package indexes and object stores.
//!
//! A page names a package only after the package exists. Never builds or edits a package.

pub mod earlier;
pub mod fetch;
mod mapped;
pub mod patch;
pub mod publish;
pub mod simple;
pub mod store;
