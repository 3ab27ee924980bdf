//! Table of a segment, loaded whole: head, stream rows, memo rows, and the SHA-256 of these.
//! Numbers are little-endian.

use base::hash::Sha256;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

use super::key::{ContentDigest, Fingerprint, Key};

const MAGIC: &[u8; 12] = b"rockpack idx";
const FORMAT: u32 = 1;
/// Magic, format, the segment's length, and two row counts.
const HEAD: usize = MAGIC.len() + 4 + 8 + 4 + 4;
const ROW: usize = 32 + 32 + 4 + 8 + 1 + 8 + 4 + 8;
const MEMO: usize = 32 + 32;
const CHECKSUM: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub key: Key,
    pub digest: Digest,
    pub method: Method,
    pub packed_len: u64,
    pub packed_crc: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub length: u64,
    pub rows: Vec<Row>,
    pub memos: Vec<(Fingerprint, ContentDigest)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("its table is malformed")]
    Magic,
    #[error("its table has another format")]
    Format,
    #[error("its table is truncated or has data after its end")]
    Torn,
    #[error("the checksum of its table is wrong")]
    Checksum,
    #[error("its table lists impossible streams")]
    Row,
    #[error("it is not a file")]
    Kind,
    #[error("it is empty")]
    NoBytes,
    #[error("it has {found} bytes instead of {expected}")]
    Length { expected: u64, found: u64 },
}

impl Table {
    pub fn encode(&self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(HEAD + self.rows.len() * ROW + self.memos.len() * MEMO + CHECKSUM);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        for count in [self.rows.len(), self.memos.len()] {
            out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.rows.iter().for_each(|row| row.encode(&mut out));
        for (fingerprint, content) in &self.memos {
            out.extend_from_slice(&fingerprint.0);
            out.extend_from_slice(content.0.as_bytes());
        }
        let checksum = Sha256::of(&out);
        out.extend_from_slice(checksum.as_bytes());
        out
    }

    /// Parses the output of [`Table::encode`]. Rejects everything that deviates.
    pub fn decode(bytes: &[u8]) -> Result<Self, Broken> {
        let mut head = Reader(bytes);
        if head.take::<12>()? != *MAGIC {
            return Err(Broken::Magic);
        }
        if head.u32()? != FORMAT {
            return Err(Broken::Format);
        }
        let (length, rows, memos) = (head.u64()?, head.count()?, head.count()?);
        let expected = rows
            .checked_mul(ROW)
            .zip(memos.checked_mul(MEMO))
            .and_then(|(a, b)| a.checked_add(b)?.checked_add(CHECKSUM));
        if expected != Some(head.0.len()) {
            return Err(Broken::Torn);
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if Sha256::of(content).as_bytes() != checksum {
            return Err(Broken::Checksum);
        }
        let mut reader = head;
        let rows =
            (0..rows).map(|_| Row::decode(&mut reader, length)).collect::<Result<Vec<_>, _>>()?;
        // Streams do not overlap.
        let packed = rows.iter().try_fold(0_u64, |sum, row| sum.checked_add(row.packed_len));
        if packed.is_none_or(|packed| packed > length) {
            return Err(Broken::Row);
        }
        let memos = (0..memos)
            .map(|_| Ok((Fingerprint(reader.take()?), ContentDigest(reader.take()?.into()))))
            .collect::<Result<_, _>>()?;
        Ok(Self { length, rows, memos })
    }
}

impl Row {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(self.digest.sha256.as_bytes());
        out.extend_from_slice(&self.digest.crc.to_le_bytes());
        out.extend_from_slice(&self.digest.size.to_le_bytes());
        out.push(match self.method {
            Method::Store => 0,
            Method::Deflate => 8,
        });
        out.extend_from_slice(&self.packed_len.to_le_bytes());
        out.extend_from_slice(&self.packed_crc.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
    }

    fn decode(reader: &mut Reader<'_>, length: u64) -> Result<Self, Broken> {
        let key = Key::from(reader.take()?);
        let (sha256, crc, size) = (reader.take()?.into(), reader.u32()?, reader.u64()?);
        let method = match reader.take::<1>()? {
            [0] => Method::Store,
            [8] => Method::Deflate,
            _ => return Err(Broken::Row),
        };
        let (packed_len, packed_crc, offset) = (reader.u64()?, reader.u32()?, reader.u64()?);
        let inside = offset.checked_add(packed_len).is_some_and(|end| end <= length);
        if !inside || (method == Method::Store && packed_len != size) {
            return Err(Broken::Row);
        }
        Ok(Self {
            key,
            digest: Digest { crc, sha256, size },
            method,
            packed_len,
            packed_crc,
            offset,
        })
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(Broken::Torn)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, Broken> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Broken> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn count(&mut self) -> Result<usize, Broken> {
        usize::try_from(self.u32()?).map_err(|_| Broken::Torn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u8, offset: u64, packed_len: u64, method: Method) -> Row {
        let digest = Digest { crc: 7, sha256: Sha256::of(&[number]), size: 9 };
        Row { key: Key::from([number; 32]), digest, method, packed_len, packed_crc: 8, offset }
    }

    fn table() -> Table {
        let rows = vec![row(1, 0, 9, Method::Store), row(2, 9, 30, Method::Deflate)];
        Table {
            length: 39,
            rows,
            memos: vec![(Fingerprint([3; 32]), ContentDigest(Sha256::of(b"4")))],
        }
    }

    #[test]
    fn reads_written_tables_back() {
        for table in [table(), Table::default()] {
            assert_eq!(Table::decode(&table.encode()).unwrap(), table);
        }
    }

    #[test]
    fn detects_each_flipped_bit() {
        let whole = table().encode();
        for index in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[index] ^= 1 << bit;
                assert!(Table::decode(&bytes).is_err(), "byte {index}, bit {bit}");
            }
        }
    }

    #[test]
    fn detects_each_other_length() {
        let mut bytes = table().encode();
        for end in 0..bytes.len() {
            assert!(Table::decode(&bytes[..end]).is_err(), "{end} bytes");
        }
        bytes.push(0);
        assert_eq!(Table::decode(&bytes), Err(Broken::Torn));
    }

    #[test]
    fn refuses_streams_outside_of_their_segment() {
        let decode =
            |row| Table::decode(&Table { length: 39, rows: vec![row], memos: Vec::new() }.encode());
        assert!(decode(row(1, 9, 30, Method::Deflate)).is_ok());
        let outside = [
            row(1, 10, 30, Method::Deflate),
            row(1, u64::MAX, 2, Method::Deflate),
            row(1, 0, 8, Method::Store),
        ];
        for row in outside {
            assert_eq!(decode(row), Err(Broken::Row));
        }
    }

    #[test]
    fn recognises_other_formats() {
        let mut bytes = table().encode();
        bytes[MAGIC.len()] = 2;
        assert_eq!(Table::decode(&bytes), Err(Broken::Format));
    }
}
