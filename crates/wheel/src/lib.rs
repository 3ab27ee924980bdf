//! Wheels and sdists: a writer of reproducible archives, a strict reader, the rules of `verify`, the platform tag
//! that is true of a wheel, and the edit that writes another tag.
//!
//! Takes archives of any author; returns their parts, and findings that name each fault. Never trusts a length or
//! a name in an archive, never extracts outside of a directory, and knows neither manifests nor ROCm.

pub mod archive;
pub mod audit;
pub mod package;
pub mod retag;
pub mod unpacking;
pub mod verify;
