//! Memory that blocks leave for those that come after them.

use std::sync::{Mutex, PoisonError};

use crate::archive::deflate::BLOCK;

/// Buffers of one block. Asking the system for a megabyte and clearing it, for each of thousands of
/// blocks, costs about as much as reading the block.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// More than this is given back to the system: blocks of xz are larger and few.
const LARGEST: usize = 2 * BLOCK;

impl Buffers {
    /// A buffer of `len` bytes, whatever they are.
    pub fn take(&self, len: usize) -> Vec<u8> {
        let mut buffer = self.lock().pop().unwrap_or_default();
        // Only what a buffer never had is cleared.
        buffer.resize(len, 0);
        buffer
    }

    /// Takes a buffer back.
    pub fn give(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= LARGEST {
            self.lock().push(buffer);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
