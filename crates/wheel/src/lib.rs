//! Wheels and sdists: a writer of reproducible archives, a strict reader, and the editor of wheels.
//!
//! Takes archives of any author; returns their parts, with each fault of their form. Never trusts a
//! length or a name in an archive, and never extracts outside of a directory.

#![warn(missing_docs)]

pub mod archive;
pub mod edit;
pub mod package;
pub mod repack;
pub mod retag;
pub mod unpacking;
