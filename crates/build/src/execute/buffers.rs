//! Memory that blocks leave for those that come after them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use wheel::archive::deflate::BLOCK;

/// Buffers of one block. Asking the system for megabytes and clearing them, for each of hundreds of
/// blocks, costs about as much as reading the block. Small buffers come from the allocator.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// From here on a buffer is worth keeping.
const LARGE: usize = BLOCK / 4;
/// More than this is given back to the system: blocks of xz are larger and few.
const LARGEST: usize = 2 * BLOCK;
/// How many are kept at most.
const MOST: usize = 64;

impl Buffers {
    /// A buffer of `len` bytes, whatever they are.
    pub fn take(&self, len: usize) -> Vec<u8> {
        let mut buffer = self.with_room(len);
        // Only what a buffer never had is cleared.
        buffer.resize(len, 0);
        buffer
    }

    /// A buffer for what `len` bytes come to when they are packed, with nothing in it.
    pub fn empty(&self, len: usize) -> Vec<u8> {
        let mut buffer = self.with_room(len);
        buffer.clear();
        buffer
    }

    fn with_room(&self, len: usize) -> Vec<u8> {
        if len < LARGE {
            Vec::new()
        } else {
            self.lock().pop().unwrap_or_else(|| Vec::with_capacity(len))
        }
    }

    /// Takes a buffer back.
    pub fn give(&self, buffer: Vec<u8>) {
        let mut kept = self.lock();
        if (LARGE..=LARGEST).contains(&buffer.capacity()) && kept.len() < MOST {
            kept.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_come_back_and_small_ones_do_not() {
        let buffers = Buffers::default();
        buffers.give(Vec::with_capacity(LARGE - 1));
        buffers.give(Vec::with_capacity(LARGEST + 1));
        assert!(buffers.lock().is_empty());
        (0..2 * MOST).for_each(|_| buffers.give(vec![7; LARGE]));
        assert_eq!(buffers.lock().len(), MOST);
        assert!(buffers.take(10).iter().all(|byte| *byte == 0), "not one of them");
        assert_eq!(
            (buffers.take(2 * LARGE).len(), buffers.empty(2 * LARGE).len(), buffers.lock().len()),
            (2 * LARGE, 0, MOST - 2)
        );
    }
}
