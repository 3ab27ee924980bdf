//! Writer of zips, including invalid ones.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Member and the content of its headers, which may contradict the data.
#[derive(Clone)]
pub struct Member {
    pub name: Vec<u8>,
    pub bytes: Vec<u8>,
    pub mode: u32,
    /// Date and time in DOS format.
    pub time: (u16, u16),
    pub method: u16,
    pub flags: u16,
    /// Name in the local header, if different.
    pub local_name: Option<Vec<u8>>,
    /// Added to the size in both headers.
    pub size_off: u32,
    /// Changes the packed bytes.
    pub damage: bool,
    /// Bytes after the stream that count as packed.
    pub tail: usize,
    /// Bytes between this member and the next.
    pub gap: usize,
    /// Extra fields in the directory.
    pub extra: Vec<u8>,
    /// Adds both sizes in a zip64 field of the local header alone.
    pub reserved: bool,
}

impl Member {
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            bytes: bytes.into(),
            mode: 0o100_644,
            time: (33, 0),
            method: 8,
            flags: 0,
            local_name: None,
            size_off: 0,
            damage: false,
            tail: 0,
            gap: 0,
            extra: Vec::new(),
            reserved: false,
        }
    }

    fn packed(&self) -> Vec<u8> {
        let mut packed = if self.method == 8 {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&self.bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            self.bytes.clone()
        };
        if self.damage {
            packed = packed.iter().map(|byte| byte ^ 0x5a).collect();
        }
        packed.extend(vec![0; self.tail]);
        packed
    }

    /// Returns a zip64 field with both sizes.
    fn sizes(&self, packed: usize) -> Vec<u8> {
        let sizes = [self.bytes.len(), packed].map(|size| u64::try_from(size).unwrap());
        [&[1, 0, 16, 0], &sizes.map(u64::to_le_bytes).concat()[..]].concat()
    }

    /// Returns the common fields of both headers, from the flags on.
    fn fields(&self, packed: usize, name: usize, extra: usize) -> Vec<u8> {
        let mut fields = Vec::new();
        for half in [self.flags, self.method, self.time.1, self.time.0] {
            fields.extend(half.to_le_bytes());
        }
        let size = u32::try_from(self.bytes.len()).unwrap() + self.size_off;
        for word in [crc32fast::hash(&self.bytes), u32::try_from(packed).unwrap(), size] {
            fields.extend(word.to_le_bytes());
        }
        fields.extend(u16::try_from(name).unwrap().to_le_bytes());
        fields.extend(u16::try_from(extra).unwrap().to_le_bytes());
        fields
    }
}

/// Makes the archive.
pub fn zip(members: &[Member]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let packed = member.packed();
        let offset = u32::try_from(out.len()).unwrap();
        let local = member.local_name.as_ref().unwrap_or(&member.name);
        out.extend(b"PK\x03\x04\x14\0");
        let reserved = if member.reserved { member.sizes(packed.len()) } else { Vec::new() };
        out.extend(member.fields(packed.len(), local.len(), reserved.len()));
        out.extend(local);
        out.extend(reserved);
        out.extend(&packed);
        out.extend(vec![b'?'; member.gap]);
        directory.extend(b"PK\x01\x02\x14\x03\x14\0");
        directory.extend(member.fields(packed.len(), member.name.len(), member.extra.len()));
        directory.extend([0; 6]);
        directory.extend((member.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&member.name);
        directory.extend(&member.extra);
    }
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(members.len()).unwrap();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// Returns the unused bytes of headers: versions of the writing and the required program, and
/// attributes of systems other than Unix.
pub fn idle(bytes: &[u8]) -> BTreeSet<usize> {
    let mut idle = BTreeSet::new();
    for at in 0..bytes.len() - 4 {
        match &bytes[at..at + 4] {
            b"PK\x03\x04" => idle.extend([at + 4, at + 5]),
            b"PK\x01\x02" => idle.extend((at + 4..at + 8).chain(at + 34..at + 42)),
            _ => {}
        }
    }
    idle
}

/// Moves all members except the first onto the bytes of the first.
pub fn overlapping(mut bytes: Vec<u8>) -> Vec<u8> {
    let directory = |at: &usize| bytes[*at..].starts_with(b"PK\x01\x02");
    let places: Vec<usize> = (0..bytes.len() - 4).filter(directory).collect();
    for place in places {
        bytes[place + 42..place + 46].fill(0);
    }
    bytes
}

/// Adds a zip64 record with `more` bytes of data.
pub fn with_zip64(bytes: &[u8], more: usize) -> Vec<u8> {
    let end = bytes.len() - 22;
    let word = |at: usize| {
        u64::from(u32::from_le_bytes(bytes[end + at..end + at + 4].try_into().unwrap()))
    };
    let count = u64::from(u16::from_le_bytes([bytes[end + 10], bytes[end + 11]]));
    let mut out = bytes[..end].to_vec();
    out.extend(b"PK\x06\x06");
    out.extend((44 + more as u64).to_le_bytes());
    out.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for value in [count, count, word(12), word(16)] {
        out.extend(value.to_le_bytes());
    }
    out.extend(vec![0; more]);
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend((end as u64).to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([0xff; 12]);
    out.extend([0, 0]);
    out
}
