//! Arrival rate of streams, and decisions to wait for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Silence of the server after which threads no longer wait. Twice this time after the start, they
/// wait only if the rate is known.
pub(super) const PATIENCE: Duration = Duration::from_millis(1200);
/// Minimum factor of fetching over packing for threads to wait.
const MIN_SPEEDUP: u64 = 4;
/// Packing time in ns per byte that counts as expensive: deflate takes 6, its highest level 60, xz
/// hundreds; unpacking and comparing 3.
const DEAR_NANOS_PER_BYTE: u64 = 30;
/// Packing time in ns per byte that is worth fetching.
const WORTH_NANOS_PER_BYTE: u64 = 5;
/// Packing time worth a request: 256 KiB of the default level.
const MIN_EFFORT: Duration = Duration::from_micros(1500);
/// Minimum time of a measurement: a shorter one says too little about the rate.
const MIN_MEASUREMENT: Duration = Duration::from_millis(300);

fn per_byte(size: u64, effort: Duration) -> u64 {
    let nanos = u64::try_from(effort.as_nanos()).unwrap_or(u64::MAX);
    nanos.checked_div(size).unwrap_or(0)
}

pub(super) fn is_dear(size: u64, effort: Duration) -> bool {
    per_byte(size, effort) >= DEAR_NANOS_PER_BYTE
}

pub(super) fn is_worth(size: u64, effort: Duration) -> bool {
    effort >= MIN_EFFORT && per_byte(size, effort) >= WORTH_NANOS_PER_BYTE
}

#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    /// Content of resolved streams, in bytes.
    resolved: AtomicU64,
    /// Time of the last event, in ms after `since`.
    last_event: AtomicU64,
}

impl Pace {
    pub fn new() -> Self {
        Self { since: Instant::now(), resolved: AtomicU64::new(0), last_event: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn record_event(&self) {
        self.last_event.store(self.now(), Ordering::Relaxed);
    }

    /// Records resolved bytes of content.
    pub fn add_resolved(&self, size: u64) {
        self.resolved.fetch_add(size, Ordering::Relaxed);
        self.record_event();
    }

    pub(crate) fn silence(&self) -> Duration {
        Duration::from_millis(self.now().saturating_sub(self.last_event.load(Ordering::Relaxed)))
    }

    /// Returns true if threads should wait for a stream of this size.
    pub(crate) fn is_worth_waiting(&self, size: u64, effort: Duration, threads: usize) -> bool {
        self.is_worth_waiting_at(self.now(), size, effort, threads)
    }

    fn is_worth_waiting_at(&self, now: u64, size: u64, effort: Duration, threads: usize) -> bool {
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.last_event.load(Ordering::Relaxed)) > patience {
            return false;
        }
        let resolved = self.resolved.load(Ordering::Relaxed);
        if now < u64::try_from(MIN_MEASUREMENT.as_millis()).unwrap_or(u64::MAX) || resolved == 0 {
            return now < 2 * patience && is_dear(size, effort);
        }
        // In ms, at the average rate of arrival, and with all threads packing.
        let arrival = u128::from(size) * u128::from(now) / u128::from(resolved);
        let packing = effort.as_millis() / (threads.max(1) as u128);
        arrival * u128::from(MIN_SPEEDUP) <= packing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn pays(pace: &Pace, now: u64, effort: u64) -> bool {
        pace.is_worth_waiting_at(now, 100 * MB, Duration::from_secs(effort), 2)
    }

    #[test]
    fn threads_wait_for_streams_that_arrive_much_faster_than_packing() {
        let pace = Pace::new();
        pace.resolved.store(100 * MB, Ordering::Relaxed);
        pace.last_event.store(1000, Ordering::Relaxed);
        // 100 MB/s arrived; two threads halve the effort.
        assert!(pays(&pace, 1000, 8) && !pays(&pace, 1000, 7));
    }

    #[test]
    fn threads_do_not_wait_for_a_silent_server() {
        let pace = Pace::new();
        assert!(pays(&pace, 100, 6) && pays(&pace, 1100, 6), "before anything is known");
        assert!(!pays(&pace, 100, 1), "packing is faster than waiting");
        assert!(!pays(&pace, 1300, 6));
        pace.last_event.store(1100, Ordering::Relaxed);
        assert!(pays(&pace, 2200, 6) && !pays(&pace, 2400, 6), "the first takes long to arrive");
        pace.resolved.store(10_000 * MB, Ordering::Relaxed);
        pace.last_event.store(5000, Ordering::Relaxed);
        assert!(pays(&pace, 6000, 60) && !pays(&pace, 6300, 60), "a stall");
    }

    #[test]
    fn quickly_packed_files_are_not_worth_a_request() {
        let worth = |size, nanos| is_worth(size, Duration::from_nanos(nanos * size));
        assert!(!worth(MB, 3) && worth(MB, 6));
        assert!(!worth(100_000, 6) && worth(100_000, 60) && !worth(20_000, 60), "or too small");
    }
}
