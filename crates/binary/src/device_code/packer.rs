//! `MessagePack` writer for code archives and markers: maps, arrays, texts, numbers.

/// Counts precede the values: a map of two entries is `map(2)`, key, value, key, value.
#[derive(Debug, Default)]
pub(super) struct Packer(Vec<u8>);

impl Packer {
    pub fn map(&mut self, entries: usize) {
        match u16::try_from(entries) {
            Ok(few @ 0..=15) => self.0.push(0x80 | few.to_le_bytes()[0]),
            Ok(some) => self.lead(0xde, &some.to_be_bytes()),
            Err(_) => self.lead(0xdf, &length(entries)),
        }
    }

    pub fn array(&mut self, values: usize) {
        match u16::try_from(values) {
            Ok(few @ 0..=15) => self.0.push(0x90 | few.to_le_bytes()[0]),
            Ok(some) => self.lead(0xdc, &some.to_be_bytes()),
            Err(_) => self.lead(0xdd, &length(values)),
        }
    }

    pub fn text(&mut self, text: &str) {
        match u16::try_from(text.len()) {
            Ok(few @ 0..=31) => self.0.push(0xa0 | few.to_le_bytes()[0]),
            Ok(some @ 32..=255) => self.lead(0xd9, &some.to_be_bytes()[1..]),
            Ok(many) => self.lead(0xda, &many.to_be_bytes()),
            Err(_) => self.lead(0xdb, &length(text.len())),
        }
        self.0.extend_from_slice(text.as_bytes());
    }

    pub fn number(&mut self, number: u64) {
        match number {
            0..=127 => self.0.push(number.to_le_bytes()[0]),
            _ => self.lead(0xcf, &number.to_be_bytes()),
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn lead(&mut self, kind: u8, rest: &[u8]) {
        self.0.push(kind);
        self.0.extend_from_slice(rest);
    }
}

/// Lengths here are far below 4 GiB.
fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::msgpack::Reader;
    use super::*;

    #[test]
    fn reads_back_values_of_every_length() {
        for count in [0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536] {
            let text = "x".repeat(count);
            let mut packer = Packer::default();
            packer.map(count);
            packer.text(&text);
            packer.array(count);
            (0..count).for_each(|number| packer.number(number as u64));
            packer.number(u64::MAX);
            packer.text("end");
            let bytes = packer.finish();
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.map(), Some(count));
            assert_eq!(reader.text(), Some(&*text));
            assert!(reader.skip().is_some() && reader.skip().is_some());
            assert_eq!(reader.text(), Some("end"), "{count}");
        }
    }
}
