//! Random backoff, so that conflicting writers do not collide again.

use std::time::Duration;

use base::retry::Backoff;

/// Attempts to replace a page that other programs change concurrently.
pub(super) const TRIES: usize = 40;
const BACKOFF: Backoff =
    Backoff { shortest: Duration::from_millis(5), longest: Duration::from_secs(2), steady: 0 };

/// Sleeps before attempt `number`; the maximum doubles each time.
pub(super) fn before(number: usize) {
    std::thread::sleep(BACKOFF.pause(u32::try_from(number).unwrap_or(u32::MAX)));
}
