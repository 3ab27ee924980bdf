//! Wheels and sdists: a writer of reproducible archives, a strict reader, the rules of `verify`, the platform tag
//! that is true of a wheel, and the editor of wheels.
//!
//! Takes archives of any author; returns their parts, and findings that name each fault. Never trusts a length or
//! a name in an archive, and never extracts outside of a directory.

pub mod archive;

pub mod edit;
pub mod package;
pub mod repack;
pub mod retag;
pub mod unpacking;

