//! Random backoff, so that conflicting writers do not collide again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Attempts to write a contended page.
pub(super) const TRIES: usize = 40;
/// Bounds of the first and of all pauses, in milliseconds.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 2000;

/// Sleeps for a random time before attempt `number`; the maximum doubles with each attempt.
pub(super) fn before(number: usize) {
    let most = SHORTEST << number.min(9);
    let random = RandomState::new().build_hasher().finish();
    std::thread::sleep(Duration::from_millis(random % most.min(LONGEST)));
}
