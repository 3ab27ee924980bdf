//! Places in a file that loses the bytes of one section, and gains a section at the end of the others.

use std::ops::Range;

use crate::fat::Part;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moves {
    /// Size of the headers.
    pub headers: u64,
    pub new_headers: u64,
    /// Bytes that leave the file.
    pub gone: Range<u64>,
    /// End of the old sections.
    pub end: u64,
    /// The marker with its padding, in the new file.
    pub marker: Range<u64>,
}

impl Moves {
    /// Returns the place of a byte in the new file, and for a byte that leaves it, of the next one.
    pub fn moved(&self, offset: u64) -> u64 {
        let grown = self.new_headers - self.headers;
        if offset < self.headers {
            offset
        } else if offset < self.gone.end {
            offset.min(self.gone.start) + grown
        } else if offset < self.end {
            offset - (self.gone.end - self.gone.start) + grown
        } else {
            self.marker.end + (offset - self.end)
        }
    }

    /// Parts of the new file. The caller has the bytes of the headers and of the marker.
    pub fn parts(&self) -> Vec<Part> {
        let zeros = |new| Part { new, old: None };
        let old = |new, old| Part { new, old: Some(old) };
        vec![
            zeros(0),
            old(self.new_headers, self.headers),
            old(self.moved(self.gone.start), self.gone.end),
            zeros(self.sections_end()),
            old(self.marker.end, self.end),
        ]
    }

    /// End of the old sections in the new file.
    pub fn sections_end(&self) -> u64 {
        self.end - (self.gone.end - self.gone.start) + (self.new_headers - self.headers)
    }
}
