//! Patches: files that make a wheel from an earlier one of the same project and tags.
//!
//! A patch is a zstd frame with the earlier wheel as prefix. Sdists have none: a change alters the
//! rest of their deflate stream.

mod frame;
mod history;
mod name;

pub use frame::{LARGEST, apply, encode, is_patch, size_after};
pub use history::History;
pub use name::{patch_name, patched_package};
