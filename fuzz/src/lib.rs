//! Fuzzing of the ELF editor, and of what reads PE files (`pe`). What has to hold of the editor is `property`,
//! which a test of the crate shares;
//! here comes that memory stays within a fixed multiple of the input.
//!
//! ```text
//! cargo +nightly fuzz run edit fuzz/corpus/edit fuzz/seeds
//! ```
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz …` does it with a stable toolchain. The seeds are made by
//! `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../tests/elf_mutations/property.rs"]
pub mod property;
/// The same for PE files.
pub mod pe;

/// Bytes that may be in use for each byte of input, all allocations together.
const FACTOR: usize = 16;
/// Bytes that looking at a file may use besides.
pub const TO_LOOK: usize = 64 << 10;
/// Bytes that editing a file may use besides: padding that an edit adds for old kernels is up to
/// 1 MiB, a vector that grows has its old and its new buffer at once, and the property writes the
/// edited file out.
pub const TO_EDIT: usize = 4 << 20;

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system's allocator, which ends the process when more is in use than [`within_limits`] allows.
struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

// SAFETY: every call goes to the system's allocator as it came.
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
        // A panic allocates: lift the limit first.
        let limit = LIMIT.swap(usize::MAX, Ordering::Relaxed);
        eprintln!("{size} bytes more make {used} in use, above the limit of {limit}");
        std::process::abort();
    }
}

/// Runs `property` on an input of `len` bytes with the memory that it is worth, and `base` bytes.
pub fn within_limits<T>(len: usize, base: usize, property: impl FnOnce() -> T) -> T {
    LIMIT.store(USED.load(Ordering::Relaxed) + FACTOR * len + base, Ordering::Relaxed);
    let result = property();
    LIMIT.store(usize::MAX, Ordering::Relaxed);
    result
}
