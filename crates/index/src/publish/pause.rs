//! Waiting before the next try, so that those who met do not meet again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// How often a page is tried that others change meanwhile.
pub(super) const TRIES: usize = 40;
/// The first pause, and the longest.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 2000;

/// Waits before try number `number`: a random time that grows from try to try.
pub(super) fn before(number: usize) {
    let most = SHORTEST << number.min(9);
    let random = RandomState::new().build_hasher().finish();
    std::thread::sleep(Duration::from_millis(random % most.min(LONGEST)));
}
