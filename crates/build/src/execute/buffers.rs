use std::sync::{Mutex, MutexGuard, PoisonError};

use wheel::archive::deflate::BLOCK;

/// Pool of block buffers: allocating and clearing megabytes takes about as long as reading them.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// Smaller buffers are allocated: clearing them takes no time.
const LARGE: usize = BLOCK / 4;
/// Capacity of all buffers in the pool: a block, also if deflate stores it. Another capacity would
/// grow when a buffer is used for a larger block, and growing doubles. Larger buffers, of xz
/// blocks, are few.
const ROOM: usize = BLOCK + 4096;
const MOST: usize = 64;

pub(super) fn room(len: u64) -> u64 {
    if len < LARGE as u64 { len } else { len.max(ROOM as u64) }
}

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
        match len {
            0..LARGE => Vec::new(),
            LARGE..=ROOM => self.lock().pop().unwrap_or_else(|| Vec::with_capacity(ROOM)),
            _ => Vec::with_capacity(len),
        }
    }

    pub fn give(&self, buffer: Vec<u8>) {
        let mut buffers = self.lock();
        if buffer.capacity() == ROOM && buffers.len() < MOST {
            buffers.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel::archive::deflate::{Encoder, Level};

    /// Bytes that deflate cannot shrink.
    fn noise() -> Vec<u8> {
        let mut state = 1_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        std::iter::repeat_with(next).take(BLOCK).collect()
    }

    #[test]
    fn reuses_large_buffers_only() {
        let buffers = Buffers::default();
        buffers.give(Vec::with_capacity(LARGE));
        buffers.give(Vec::with_capacity(2 * ROOM));
        assert!(buffers.lock().is_empty());
        (0..2 * MOST).for_each(|_| buffers.give(Vec::with_capacity(ROOM)));
        assert_eq!(buffers.lock().len(), MOST);
        let mut packed = buffers.empty(BLOCK);
        Encoder::new(Level::Fast).append_block(&noise(), false, &mut packed);
        assert!(packed.len() > BLOCK && packed.capacity() == ROOM, "{}", packed.capacity());
        buffers.give(packed);
        assert!(buffers.take(10).iter().all(|byte| *byte == 0), "not one of them");
        assert_eq!(
            (buffers.take(2 * LARGE).len(), buffers.empty(2 * LARGE).len(), buffers.lock().len()),
            (2 * LARGE, 0, MOST - 2)
        );
    }
}
