//! Reads any bytes as a PE file and as an import library, unless they are rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rockpack_fuzz::{TO_LOOK, pe, within_limits};

fuzz_target!(|bytes: &[u8]| {
    within_limits(bytes.len(), TO_LOOK, || pe::look(bytes));
});
