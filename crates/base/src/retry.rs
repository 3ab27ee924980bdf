//! Repeated attempts with pauses.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Exponential backoff with a random part, so that programs that collided are unlikely to collide again.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// Maximum of the first pause; each further maximum is twice the one before.
    pub shortest: Duration,
    /// Maximum of all pauses.
    pub longest: Duration,
    /// Part that is not random, in percent.
    pub fixed_percent: u32,
}

impl Backoff {
    /// Returns the pause before a retry; the first retry has the number 1.
    pub fn pause(&self, retry: u32) -> Duration {
        let factor = 1_u32.checked_shl(retry.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.shortest.saturating_mul(factor).min(self.longest);
        let fixed = whole * self.fixed_percent / 100;
        let random = RandomState::new().hash_one(retry) % 1000;
        fixed + whole.saturating_sub(fixed) * u32::try_from(random).unwrap_or(0) / 1000
    }
}

/// Tries at most `max_attempts` times, with a pause between two attempts; returns the first success.
pub fn until_some<T>(
    max_attempts: u32,
    pause: Duration,
    mut attempt: impl FnMut() -> Option<T>,
) -> Option<T> {
    for number in 0..max_attempts {
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
        let backoff = Backoff { shortest, longest, fixed_percent: 100 };
        for (retry, whole) in [(1, 4), (2, 8), (5, 64), (6, 100), (33, 100), (u32::MAX, 100)] {
            assert_eq!(backoff.pause(retry), Duration::from_millis(whole), "{retry}");
        }
    }

    #[test]
    fn a_part_of_a_pause_is_random() {
        let second = Duration::from_secs(1);
        let backoff = Backoff { shortest: second, longest: second, fixed_percent: 50 };
        let pauses: Vec<Duration> = (0..100).map(|_| backoff.pause(1)).collect();
        assert!(pauses.iter().all(|pause| second / 2 <= *pause && *pause <= second), "{pauses:?}");
        assert!(pauses.iter().any(|pause| *pause != pauses[0]), "all pauses are {:?}", pauses[0]);
    }

    #[test]
    fn ends_at_the_first_success() {
        let mut remaining = 3;
        let mut attempt = || {
            remaining -= 1;
            (remaining == 0).then_some("done")
        };
        assert_eq!(until_some(2, Duration::ZERO, &mut attempt), None);
        assert_eq!(until_some(2, Duration::ZERO, &mut attempt), Some("done"));
    }
}
