//! Tests of the crate with other programs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

extern crate rockpack_wheel as wheel;

mod archive;
