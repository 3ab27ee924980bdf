//! Bytes that replace those of a file.

use std::io;

/// Changed or appended bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// Offset in the edited file.
    pub offset: u64,
    /// Bytes.
    pub bytes: Vec<u8>,
}

impl Overlay {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

/// Writes the bytes of `overlays`, which are sorted, over those read from `offset` on.
pub(crate) fn lay(overlays: &[Overlay], offset: u64, buf: &mut [u8]) -> io::Result<()> {
    let end = offset.saturating_add(buf.len() as u64);
    let first = overlays.partition_point(|overlay| overlay.end() <= offset);
    for overlay in overlays[first..].iter().take_while(|overlay| overlay.offset < end) {
        let (from, until) = (overlay.offset.max(offset), overlay.end().min(end));
        if from < until {
            let index = |at: u64, base: u64| usize::try_from(at - base).map_err(io::Error::other);
            let source =
                &overlay.bytes[index(from, overlay.offset)?..index(until, overlay.offset)?];
            buf[index(from, offset)?..index(until, offset)?].copy_from_slice(source);
        }
    }
    Ok(())
}
