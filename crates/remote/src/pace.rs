//! Arrival rate of streams, and decisions to wait for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Duration of waiting before anything is known, or after the last arrival.
pub(super) const PATIENCE: Duration = Duration::from_millis(1200);
/// Minimum factor of fetching over packing for threads to wait.
const FASTER: u64 = 4;
/// Packing time in ns per byte that counts as expensive: deflate takes 6, its highest level 60, xz
/// hundreds; unpacking and comparing 3.
const DEAR: u64 = 30;
/// Packing time in ns per byte that is worth fetching.
const WORTH: u64 = 5;
/// Packing time worth a request: 256 KiB of the default level.
const REQUEST: Duration = Duration::from_micros(1500);
/// Minimum time of a measurement: a shorter one says too little about the rate.
const ENOUGH: Duration = Duration::from_millis(300);

fn per_byte(size: u64, effort: Duration) -> u64 {
    let nanos = u64::try_from(effort.as_nanos()).unwrap_or(u64::MAX);
    nanos.checked_div(size).unwrap_or(0)
}

pub(super) fn is_dear(size: u64, effort: Duration) -> bool {
    per_byte(size, effort) >= DEAR
}

pub(super) fn is_worth(size: u64, effort: Duration) -> bool {
    effort >= REQUEST && per_byte(size, effort) >= WORTH
}

#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    done: AtomicU64,
    /// Time of the last event, in ms.
    last: AtomicU64,
}

impl Pace {
    pub fn new() -> Self {
        Self { since: Instant::now(), done: AtomicU64::new(0), last: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn stirred(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Records resolved bytes of content.
    pub fn done(&self, size: u64) {
        self.done.fetch_add(size, Ordering::Relaxed);
        self.stirred();
    }

    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.now().saturating_sub(self.last.load(Ordering::Relaxed)))
    }

    /// Returns true if threads should wait for a stream of this size.
    pub(crate) fn pays(&self, size: u64, effort: Duration, threads: usize) -> bool {
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
        // In ms: arrival at the average rate, against packing by all threads.
        let comes = u128::from(size) * u128::from(now) / u128::from(done);
        let packs = effort.as_millis() / (threads.max(1) as u128);
        comes * u128::from(FASTER) <= packs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn pays(pace: &Pace, now: u64, effort: u64) -> bool {
        pace.pays_at(now, 100 * MB, Duration::from_secs(effort), 2)
    }

    #[test]
    fn threads_wait_for_streams_that_arrive_much_faster_than_packing() {
        let pace = Pace::new();
        pace.done.store(100 * MB, Ordering::Relaxed);
        pace.last.store(1000, Ordering::Relaxed);
        // 100 MB/s arrived; two threads halve the effort.
        assert!(pays(&pace, 1000, 8) && !pays(&pace, 1000, 7));
    }

    #[test]
    fn threads_do_not_wait_for_a_silent_server() {
        let pace = Pace::new();
        assert!(pays(&pace, 100, 6) && pays(&pace, 1100, 6), "before anything is known");
        assert!(!pays(&pace, 100, 1), "packing is faster than waiting");
        assert!(!pays(&pace, 1300, 6));
        pace.last.store(1100, Ordering::Relaxed);
        assert!(pays(&pace, 2200, 6) && !pays(&pace, 2400, 6), "the first takes long to arrive");
        pace.done.store(10_000 * MB, Ordering::Relaxed);
        pace.last.store(5000, Ordering::Relaxed);
        assert!(pays(&pace, 6000, 60) && !pays(&pace, 6300, 60), "a stall");
    }

    #[test]
    fn quickly_packed_files_are_not_worth_a_request() {
        let worth = |size, nanos| is_worth(size, Duration::from_nanos(nanos * size));
        assert!(!worth(MB, 3) && worth(MB, 6));
        assert!(!worth(100_000, 6) && worth(100_000, 60) && !worth(20_000, 60), "or too small");
    }
}
