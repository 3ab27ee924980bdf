use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag at the end of its scope, also of one that fails.
pub(super) struct Ends<'o>(pub(super) &'o AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
