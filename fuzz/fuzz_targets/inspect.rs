//! Inspects any bytes, unless they are rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rockpack_fuzz::{TO_LOOK, property, within_limits};

fuzz_target!(|bytes: &[u8]| {
    within_limits(bytes.len(), TO_LOOK, || property::inspect(bytes));
});
