//! Repeated attempts with pauses.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Pauses that double, with a random part: programs that collided once do not collide again.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// Limit of the first pause.
    pub shortest: Duration,
    /// Limit of all pauses.
    pub longest: Duration,
    /// Part that is not random, in percent.
    pub steady: u32,
}

impl Backoff {
    /// Pause after this number of tries.
    pub fn pause(&self, tries: u32) -> Duration {
        let whole = self.shortest.saturating_mul(1 << tries.min(10)).min(self.longest);
        let steady = whole * self.steady / 100;
        let random = RandomState::new().hash_one(tries) % 1000;
        steady + whole.saturating_sub(steady) * u32::try_from(random).unwrap_or(0) / 1000
    }
}

/// Tries at most `tries` times, with pauses; returns the first success.
pub fn until<T>(tries: u32, pause: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for number in 0..tries {
        if number > 0 {
            std::thread::sleep(pause);
        }
        if let Some(success) = attempt() {
            return Some(success);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest() {
        let [shortest, longest] = [4, 100].map(Duration::from_millis);
        let backoff = Backoff { shortest, longest, steady: 50 };
        for (tries, whole) in [(0, 4), (1, 8), (4, 64), (5, 100), (u32::MAX, 100)] {
            let (pause, whole) = (backoff.pause(tries), Duration::from_millis(whole));
            assert!(whole / 2 <= pause && pause <= whole, "{tries}: {pause:?}");
        }
    }

    #[test]
    fn ends_at_the_first_success() {
        let mut remaining = 3;
        let mut attempt = || {
            remaining -= 1;
            (remaining == 0).then_some("done")
        };
        assert_eq!(until(2, Duration::ZERO, &mut attempt), None);
        assert_eq!(until(2, Duration::ZERO, &mut attempt), Some("done"));
    }
}
