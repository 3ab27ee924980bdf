//! Verifies edited bytes with a fault, which the last bytes of the input select.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rockpack_fuzz::{TO_EDIT, property, within_limits};

fuzz_target!(|bytes: &[u8]| {
    let Some(noise) = bytes.last_chunk() else { return };
    within_limits(bytes.len(), TO_EDIT, || property::verify(bytes, *noise));
});
