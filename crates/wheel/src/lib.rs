//! Wheels and sdists: a writer of reproducible archives, a strict reader, and the editor of wheels.
//!
//! The readers accept archives of any author, and return their parts with each fault of their form. They
//! trust no length and no name in an archive, and never extract outside of the given directory.

#![warn(missing_docs)]

pub mod archive;
pub mod edit;
pub mod package;
pub mod repack;
pub mod retag;
pub mod unpacking;
