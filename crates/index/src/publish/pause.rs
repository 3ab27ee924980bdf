//! Pauses between tries to change what others change too.

use std::time::Duration;

use base::retry::Backoff;

/// How often a page is tried that others change meanwhile.
pub(super) const TRIES: usize = 40;
const BACKOFF: Backoff =
    Backoff { shortest: Duration::from_millis(5), longest: Duration::from_secs(2), steady: 0 };

/// Waits before try number `number`.
pub(super) fn before(number: usize) {
    std::thread::sleep(BACKOFF.pause(u32::try_from(number).unwrap_or(u32::MAX)));
}
