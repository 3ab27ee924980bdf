//! Fuzzing of the ELF editor and of the PE reader (`pe`). The properties of the editor are in
//! `property`, which a test of the crate shares; this crate also checks that memory stays within a
//! fixed multiple of the input.
//!
//! ```text
//! cargo +nightly fuzz run edit fuzz/corpus/edit fuzz/seeds
//! ```
//!
//! A stable toolchain works with `RUSTC_BOOTSTRAP=1 cargo fuzz …`. The seeds are made by `cargo run
//! --manifest-path fuzz/Cargo.toml --example seeds`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../crates/binary/tests/elf_mutations/property.rs"]
pub mod property;
/// Properties of the PE reader.
pub mod pe;

/// Allowed bytes in use for each byte of input, over all allocations.
const FACTOR: usize = 16;
/// Additional bytes for inspecting a file.
pub const TO_LOOK: usize = 64 << 10;
/// Additional bytes for editing a file: an edit pads up to 1 MiB for old kernels, a growing vector
/// has its old and its new buffer at once, and the property writes the edited file.
pub const TO_EDIT: usize = 4 << 20;

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// System allocator that aborts the process if more is in use than [`within_limits`] allows.
struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(ptr, layout) }
    }
}

fn take(size: usize) {
    let used = USED.fetch_add(size, Ordering::Relaxed) + size;
    if used > LIMIT.load(Ordering::Relaxed) {
        // A panic allocates, so the limit is lifted first.
        let limit = LIMIT.swap(usize::MAX, Ordering::Relaxed);
        eprintln!("{size} bytes more make {used} in use, above the limit of {limit}");
        std::process::abort();
    }
}

/// Runs `property` on an input of `len` bytes with a memory limit: `FACTOR` bytes for each byte, plus
/// `base` bytes.
pub fn within_limits<T>(len: usize, base: usize, property: impl FnOnce() -> T) -> T {
    LIMIT.store(USED.load(Ordering::Relaxed) + FACTOR * len + base, Ordering::Relaxed);
    let result = property();
    LIMIT.store(usize::MAX, Ordering::Relaxed);
    result
}
