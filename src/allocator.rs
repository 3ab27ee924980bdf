//! Settings of the allocator.

/// `mi_option_purge_delay` (`mimalloc.h`); the bindings do not name it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Returns freed memory to the system at once, and takes no huge pages: otherwise each thread keeps
/// megabytes of both, beyond any limit. Child processes have no huge pages either.
pub fn save_memory() {
    #[expect(unsafe_code, reason = "the bindings of the allocator have no safe function for it")]
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 0);
    }
    // Without it, a build takes more memory.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
