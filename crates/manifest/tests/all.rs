//! Tests of KDL with all documents of the repository and with made ones.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

extern crate rockpack_manifest as manifest;

use std::path::{Path, PathBuf};

mod kdl;
mod layout;

/// Directory of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
