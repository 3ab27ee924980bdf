//! Circuit breaker for a shared cache.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Number of consecutive failures that turn the cache off.
const TOO_MANY: u32 = 5;

/// Counts failures. Once open it stays open: builds are short, and each try costs time.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    in_a_row: u32,
    last: Option<(Instant, String)>,
    off: Option<String>,
}

impl Breaker {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn off(&self) -> Option<String> {
        self.lock().off.clone()
    }

    /// Returns the reason of the failures since the last answer.
    pub fn failing(&self) -> Option<String> {
        let state = self.lock();
        state.last.as_ref().filter(|_| state.in_a_row > 0).map(|(_, why)| why.clone())
    }

    pub fn succeeded(&self) {
        self.lock().in_a_row = 0;
    }

    /// Counts a failed request. A broken connection fails all its requests at once, which counts as
    /// one failure.
    pub fn failed(&self, began: Instant, why: &str) {
        let mut state = self.lock();
        if state.last.as_ref().is_some_and(|(last, _)| began < *last) {
            return;
        }
        state.last = Some((Instant::now(), why.to_owned()));
        state.in_a_row += 1;
        if state.in_a_row >= TOO_MANY {
            state.off.get_or_insert_with(|| format!("it failed {TOO_MANY} times in a row: {why}"));
        }
    }

    pub(crate) fn turn_off(&self, why: String) {
        self.lock().off.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_off_after_five_failures_in_a_row() {
        let breaker = Breaker::default();
        for _ in 0..3 {
            (0..4).for_each(|_| breaker.failed(Instant::now(), "no"));
            assert_eq!((breaker.off(), breaker.failing()), (None, Some("no".to_owned())));
            breaker.succeeded();
            assert_eq!(breaker.failing(), None);
        }
        (0..5).for_each(|_| breaker.failed(Instant::now(), "why"));
        assert_eq!(breaker.off().as_deref(), Some("it failed 5 times in a row: why"));
        breaker.turn_off("another reason".to_owned());
        assert!(breaker.off().unwrap().ends_with("why"), "the first reason stays");
    }

    #[test]
    fn concurrent_failures_count_as_one() {
        let (breaker, began) = (Breaker::default(), Instant::now());
        (0..50).for_each(|_| breaker.failed(began, "reset"));
        assert_eq!(breaker.off(), None);
    }
}
