//! Edits any bytes, verifies the result and checks that a second edit changes nothing, unless the
//! bytes are rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rockpack_fuzz::{TO_EDIT, property, within_limits};

fuzz_target!(|bytes: &[u8]| {
    within_limits(bytes.len(), TO_EDIT, || property::edit(bytes));
});
