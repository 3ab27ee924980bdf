//! Tar archive with bytes generated on reading. Offsets of members are fixed, so blocks are packed
//! concurrently.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Bytes;
use cache::Fingerprinter;

/// Block size of tar, to which contents are padded (POSIX pax).
const UNIT: u64 = 512;

#[derive(Debug, Default)]
pub(crate) struct TarImage {
    segments: Vec<(u64, Bytes)>,
    len: u64,
    given_up: AtomicUsize,
}

impl TarImage {
    /// Pads the content to a unit.
    pub fn push(&mut self, headers: Vec<u8>, content: Bytes) {
        self.segment(Bytes::Memory(headers));
        let rest = content.len() % UNIT;
        if content.len() > 0 {
            self.segment(content);
        }
        if rest > 0 {
            self.segment(Bytes::Memory(zeroes(UNIT - rest)));
        }
    }

    pub fn end(&mut self) {
        self.segment(Bytes::Memory(zeroes(2 * UNIT)));
    }

    fn segment(&mut self, bytes: Bytes) {
        let start = self.len;
        self.len += bytes.len();
        self.segments.push((start, bytes));
    }

    pub fn identify(&self, fingerprint: &mut Fingerprinter) {
        self.segments.iter().for_each(|(_, bytes)| bytes.identify(fingerprint));
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn read_ahead(&self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        for (start, bytes) in
            self.segments_from(offset).iter().take_while(|(start, _)| *start < end)
        {
            let offset_in_file = offset.saturating_sub(*start);
            bytes.read_ahead(offset_in_file, (end - start).min(bytes.len()) - offset_in_file);
        }
    }

    pub(crate) fn give_up_before(&self, end: u64) {
        let end_index = self.segments.partition_point(|(start, bytes)| start + bytes.len() <= end);
        let from = self.given_up.fetch_max(end_index, Ordering::Relaxed);
        for (_, bytes) in self.segments.get(from..end_index).unwrap_or_default() {
            bytes.give_up_before(bytes.len());
        }
    }

    fn segments_from(&self, offset: u64) -> &[(u64, Bytes)] {
        let first = self.segments.partition_point(|(start, bytes)| start + bytes.len() <= offset);
        &self.segments[first..]
    }

    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut offset, mut rest) = (offset, buffer);
        for (start, bytes) in self.segments_from(offset) {
            if rest.is_empty() {
                break;
            }
            let offset_in_file = offset - start;
            let take =
                usize::try_from(bytes.len() - offset_in_file).unwrap_or(usize::MAX).min(rest.len());
            let (piece, remainder) = rest.split_at_mut(take);
            bytes.read_exact_at(offset_in_file, piece)?;
            offset += take as u64;
            rest = remainder;
        }
        Ok(())
    }
}

fn zeroes(count: u64) -> Vec<u8> {
    vec![0; usize::try_from(count).unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_range_like_the_whole() {
        let mut image = TarImage::default();
        image.push(vec![1; 512], Bytes::Memory(vec![2; 700]));
        image.push(vec![3; 1024], Bytes::Memory(Vec::new()));
        image.end();
        assert_eq!(image.len(), 512 + 1024 + 1024 + 1024);
        let read = |offset: u64, len: usize| {
            let mut buffer = vec![9; len];
            image.read_exact_at(offset, &mut buffer).map(|()| buffer)
        };
        let whole = read(0, 3584).unwrap();
        assert_eq!(
            (whole[511], whole[512], whole[1211], whole[1212], whole[1536]),
            (1, 2, 2, 0, 3)
        );
        for (offset, len) in [(0, 1), (511, 2), (1200, 400), (2559, 1025), (3583, 1)] {
            assert_eq!(
                read(offset, len).unwrap(),
                whole[usize::try_from(offset).unwrap()..][..len]
            );
        }
        assert!(read(3583, 2).is_err());
        assert!(read(u64::MAX, 1).is_err());
    }
}
