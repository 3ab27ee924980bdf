use std::io;

use fs_err::File;
use memmap2::Mmap;

#[expect(unsafe_code, reason = "no crate maps files safely if another program truncates them")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: no code depends on the bytes staying equal. Truncation meanwhile kills the program.
    unsafe { Mmap::map(file.file()) }
}
