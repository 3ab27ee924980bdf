//! `MessagePack` reader that walks maps and skips other values.
//!
//! Unlike a crate, it builds no tree, limits the depth, and never allocates by a length in the
//! input.

/// Limit of nesting, against stack overflow.
const DEEPEST: usize = 32;

#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn number(&mut self, width: usize) -> Option<usize> {
        let bytes = self.take(width)?;
        let value = bytes.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        usize::try_from(value).ok()
    }

    pub fn map(&mut self) -> Option<usize> {
        match self.take(1)?[0] {
            byte @ 0x80..=0x8f => Some(usize::from(byte & 15)),
            0xde => self.number(2),
            0xdf => self.number(4),
            _ => None,
        }
    }

    pub fn text(&mut self) -> Option<&'b str> {
        let length = match self.take(1)?[0] {
            byte @ 0xa0..=0xbf => usize::from(byte & 31),
            0xd9 => self.number(1)?,
            0xda => self.number(2)?,
            0xdb => self.number(4)?,
            _ => return None,
        };
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub fn skip(&mut self) -> Option<()> {
        self.skip_in(0)
    }

    fn skip_in(&mut self, depth: usize) -> Option<()> {
        let byte = self.take(1)?[0];
        let bytes = match byte {
            0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => 0,
            0x80..=0x8f => return self.skip_many(2 * usize::from(byte & 15), depth),
            0x90..=0x9f => return self.skip_many(usize::from(byte & 15), depth),
            0xa0..=0xbf => usize::from(byte & 31),
            0xc4 | 0xd9 => self.number(1)?,
            0xc5 | 0xda => self.number(2)?,
            0xc6 | 0xdb => self.number(4)?,
            0xc7 => self.number(1)?.checked_add(1)?,
            0xc8 => self.number(2)?.checked_add(1)?,
            0xc9 => self.number(4)?.checked_add(1)?,
            0xcc | 0xd0 => 1,
            0xcd | 0xd1 | 0xd4 => 2,
            0xd5 => 3,
            0xca | 0xce | 0xd2 => 4,
            0xd6 => 5,
            0xcb | 0xcf | 0xd3 => 8,
            0xd7 => 9,
            0xd8 => 17,
            0xdc => return self.number(2).and_then(|count| self.skip_many(count, depth)),
            0xdd => return self.number(4).and_then(|count| self.skip_many(count, depth)),
            0xde => return self.number(2).and_then(|n| self.skip_many(n.checked_mul(2)?, depth)),
            0xdf => return self.number(4).and_then(|n| self.skip_many(n.checked_mul(2)?, depth)),
            0xc1 => return None,
        };
        self.take(bytes).map(drop)
    }

    fn skip_many(&mut self, count: usize, depth: usize) -> Option<()> {
        // Every value has at least one byte, so a forged count ends with the input.
        (depth < DEEPEST).then_some(())?;
        (0..count).try_for_each(|_| self.skip_in(depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_every_kind_of_value() {
        let values: [&[u8]; 22] = [
            &[0x7f],
            &[0xe0],
            &[0xc0],
            &[0xc3],
            &[0x82, 0xa1, b'a', 0x01, 0xa1, b'b', 0x90],
            &[0x93, 1, 2, 3],
            &[0xa3, b'a', b'b', b'c'],
            &[0xc4, 2, 0, 0],
            &[0xc5, 0, 1, 0],
            &[0xc7, 1, 9, 0],
            &[0xca, 0, 0, 0, 0],
            &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xcd, 0, 0],
            &[0xcf, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xd3, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xd4, 1, 1],
            &[0xd9, 1, b'x'],
            &[0xda, 0, 1, b'x'],
            &[0xdb, 0, 0, 0, 1, b'x'],
            &[0xdc, 0, 2, 1, 1],
            &[0xde, 0, 1, 1, 1],
            &[0xdf, 0, 0, 0, 1, 1, 1],
        ];
        for value in values {
            let mut reader = Reader::new(value);
            assert!(reader.skip().is_some() && reader.0.is_empty(), "{value:x?}");
            for length in 0..value.len() {
                assert!(Reader::new(&value[..length]).skip().is_none(), "{value:x?} at {length}");
            }
        }
    }

    #[test]
    fn rejects_excessive_lengths_and_depths() {
        assert!(Reader::new(&[0xdd, 0xff, 0xff, 0xff, 0xff]).skip().is_none());
        assert!(Reader::new(&[0xdb, 0xff, 0xff, 0xff, 0xff]).skip().is_none());
        assert!(Reader::new(&[0xc1]).skip().is_none());
        assert!(Reader::new(&vec![0x91; 100_000]).skip().is_none());
    }
}
