//! Parts of reading that all packages share.

use std::io::{self, Write};

use binary::device_code::Code;
use wheel::package;
use wheel::package::zip_file::is_broken;

use crate::Known;

/// Largest static library in bytes that is kept to find out if it is an import library. These are
/// smaller, because they contain names alone.
const LARGEST_ARCHIVE: u64 = 64 << 20;

/// Writer that passes bytes to an optional sink, and keeps the bytes of static libraries.
pub(super) struct Tee<'s> {
    sink: Option<&'s mut dyn Write>,
    pub(super) kept: Option<Vec<u8>>,
}

impl<'s> Tee<'s> {
    pub(super) fn new(
        kind: package::ContentKind,
        size: u64,
        sink: Option<&'s mut dyn Write>,
    ) -> Self {
        let keeps = kind == package::ContentKind::Archive && size <= LARGEST_ARCHIVE;
        Self { sink, kept: keeps.then(Vec::new) }
    }
}

impl Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(sink) = &mut self.sink {
            sink.write_all(bytes)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the fault of a package; other errors, such as the disk's, stay errors.
pub(super) fn fault(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_broken(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Device code in a box, because most files have none.
pub(super) fn nonempty(code: Code) -> Known<Option<Box<Code>>> {
    Known::Is((!code.is_empty()).then(|| Box::new(code)))
}
