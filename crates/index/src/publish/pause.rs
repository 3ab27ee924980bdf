//! Random backoff, so that conflicting writers do not collide again.

use std::time::Duration;

use base::retry::Backoff;

/// Attempts to replace a page that other programs change concurrently.
pub(super) const TRIES: usize = 40;
const BACKOFF: Backoff = Backoff {
    shortest: Duration::from_millis(5),
    longest: Duration::from_secs(2),
    fixed_percent: 0,
};

/// Sleeps before a retry, of which the first has the number 1; the maximum doubles each time.
pub(super) fn before(retry: usize) {
    std::thread::sleep(BACKOFF.pause(u32::try_from(retry).unwrap_or(u32::MAX)));
}
