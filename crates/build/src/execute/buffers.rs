use std::sync::{Mutex, MutexGuard, PoisonError};

use wheel::archive::deflate::BLOCK;

/// Pool of block buffers: allocating and clearing megabytes takes about as long as reading them.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

const LARGE: usize = BLOCK / 4;
/// Larger buffers, of xz blocks, are few.
const LARGEST: usize = 2 * BLOCK;
const MOST: usize = 64;

impl Buffers {
    /// The content is arbitrary.
    pub fn take(&self, len: usize) -> Vec<u8> {
        let mut buffer = self.with_room(len);
        buffer.resize(len, 0);
        buffer
    }

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
