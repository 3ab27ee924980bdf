//! Any bytes are edited, verified and found to have nothing left to do, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rockpack_fuzz::{TO_EDIT, property, within_limits};

fuzz_target!(|bytes: &[u8]| {
    within_limits(bytes.len(), TO_EDIT, || property::edit(bytes));
});
