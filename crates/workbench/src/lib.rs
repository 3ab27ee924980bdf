//! Harness of the workspace's tests, which no product crate depends on.
//!
//! A test without its tool calls [`skips`], output that reviewers read is [`expected`] in a file of the repository, and
//! [`tool`] runs programs of the machine. Libraries and DLLs with device code ([`fat_library`], [`fat_dll`]) and the bytes that a
//! loader maps ([`memory`]) are for tests of the editors and of `wheel split`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::missing_panics_doc, reason = "a panic is a failed test")]

use std::path::Path;

pub mod code_object;
pub mod expected;
pub mod fat_dll;
pub mod fat_library;
pub mod memory;
pub mod skips;
pub mod tool;
mod units;

/// Returns the directory of the repository.
pub fn checkout() -> &'static Path {
    // Two directories above this crate's.
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}
