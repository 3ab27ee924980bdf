//! How fast streams come, and what that means for those who could pack them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long threads hold a stream back before anything is known, or after nothing more came.
pub(super) const PATIENCE: Duration = Duration::from_millis(1200);
/// How many times faster than packing streams have to come for threads to wait for them.
const FASTER: u64 = 4;
/// Nanoseconds for a byte from which packing is dear: deflate takes 6, its highest level 60, xz hundreds. Unpacking and
/// comparing takes 3.
const DEAR: u64 = 30;
/// Nanoseconds for a byte from which a stream is worth fetching at all.
const WORTH: u64 = 5;
/// What packs in less time is not worth a request: 256 KiB of the default level.
const REQUEST: Duration = Duration::from_micros(1500);
/// What is measured over less time says little.
const ENOUGH: Duration = Duration::from_millis(300);

fn per_byte(size: u64, effort: Duration) -> u64 {
    let nanos = u64::try_from(effort.as_nanos()).unwrap_or(u64::MAX);
    nanos.checked_div(size).unwrap_or(0)
}

/// Whether a stream of this size is dear to pack.
pub(super) fn is_dear(size: u64, effort: Duration) -> bool {
    per_byte(size, effort) >= DEAR
}

/// Whether asking for one, unpacking and comparing it is quicker than packing it.
pub(super) fn is_worth(size: u64, effort: Duration) -> bool {
    effort >= REQUEST && per_byte(size, effort) >= WORTH
}

/// What came, and when.
#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    /// Bytes of content of which it is known what becomes of them.
    done: AtomicU64,
    /// When anything happened last, in milliseconds.
    last: AtomicU64,
}

impl Pace {
    /// Begins to measure.
    pub fn new() -> Self {
        Self { since: Instant::now(), done: AtomicU64::new(0), last: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Something happened.
    pub fn stirred(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// So many bytes of content are dealt with.
    pub fn done(&self, size: u64) {
        self.done.fetch_add(size, Ordering::Relaxed);
        self.stirred();
    }

    /// How long nothing happened.
    pub fn silence(&self) -> Duration {
        Duration::from_millis(self.now().saturating_sub(self.last.load(Ordering::Relaxed)))
    }

    /// Whether threads that would have to pack a stream of this size do better to wait for it.
    pub fn pays(&self, size: u64, effort: Duration, threads: usize) -> bool {
        self.pays_at(self.now(), size, effort, threads)
    }

    fn pays_at(&self, now: u64, size: u64, effort: Duration, threads: usize) -> bool {
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.last.load(Ordering::Relaxed)) > patience {
            return false;
        }
        let done = self.done.load(Ordering::Relaxed);
        if now < u64::try_from(ENOUGH.as_millis()).unwrap_or(u64::MAX) || done == 0 {
            return now < 2 * patience && is_dear(size, effort);
        }
        // Milliseconds: its content at the rate of all before it, against its packing by all threads.
        let comes = u128::from(size) * u128::from(now) / u128::from(done);
        let packs = effort.as_millis() / (threads.max(1) as u128);
        comes * u128::from(FASTER) <= packs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    /// Whether it pays to wait for 100 MB that one thread packs in `effort` seconds, at `now` milliseconds.
    fn pays(pace: &Pace, now: u64, effort: u64) -> bool {
        pace.pays_at(now, 100 * MB, Duration::from_secs(effort), 2)
    }

    #[test]
    fn threads_wait_for_what_comes_much_faster_than_they_pack() {
        let pace = Pace::new();
        pace.done.store(100 * MB, Ordering::Relaxed);
        pace.last.store(1000, Ordering::Relaxed);
        // 100 MB a second came; two threads need half of the effort.
        assert!(pays(&pace, 1000, 8) && !pays(&pace, 1000, 7));
    }

    #[test]
    fn nobody_waits_when_nothing_comes() {
        let pace = Pace::new();
        assert!(pays(&pace, 100, 6) && pays(&pace, 1100, 6), "before anything is known");
        assert!(!pays(&pace, 100, 1), "what is quickly packed is not waited for");
        assert!(!pays(&pace, 1300, 6));
        pace.last.store(1100, Ordering::Relaxed);
        assert!(pays(&pace, 2200, 6) && !pays(&pace, 2400, 6), "the first takes long to come");
        pace.done.store(10_000 * MB, Ordering::Relaxed);
        pace.last.store(5000, Ordering::Relaxed);
        assert!(pays(&pace, 6000, 60) && !pays(&pace, 6300, 60), "a stall");
    }

    #[test]
    fn what_is_quickly_packed_is_not_worth_a_request() {
        let worth = |size, nanos| is_worth(size, Duration::from_nanos(nanos * size));
        assert!(!worth(MB, 3) && worth(MB, 6));
        assert!(!worth(100_000, 6) && worth(100_000, 60) && !worth(20_000, 60), "or too small");
    }
}
