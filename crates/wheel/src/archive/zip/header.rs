//! Records of a zip archive (PKWARE's APPNOTE.TXT 6.3; numbers in comments are its sections).

use super::Method;

/// 32-bit value that refers to zip64.
pub(super) const MAX_32: u64 = u32::MAX as u64;
/// 16-bit value that refers to zip64.
const MAX_16: usize = u16::MAX as usize;

const ZIP64_TAG: u16 = 1;
/// Bit 11: the name is UTF-8 (4.4.4).
const UTF_8: u16 = 1 << 11;
/// Upper byte of "version made by" (4.4.2): Unix, which makes the mode valid.
const UNIX: u16 = 3 << 8;
const REGULAR: u32 = 0o100_000;

/// Mode; installers use only its execute permission.
pub(super) fn regular(executable: bool) -> u32 {
    REGULAR | if executable { 0o755 } else { 0o644 }
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) mode: u32,
    pub(super) time: (u16, u16),
    pub(super) method: Method,
    pub(super) crc: u32,
    pub(super) size: u64,
    pub(super) compressed: u64,
    pub(super) offset: u64,
    /// Decided before `compressed` is known.
    pub(super) zip64: bool,
}

#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

fn short(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn short_count(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn zip64_extra(values: &[u64]) -> Vec<u8> {
    if values.is_empty() {
        return Vec::new();
    }
    let start = Fields::default().u16(ZIP64_TAG).u16(short_count(values.len() * 8));
    values.iter().fold(start, |fields, value| fields.u64(*value)).0
}

impl Header {
    /// Local header (4.3.7). Its length does not depend on `crc` and `compressed`.
    pub(super) fn local(&self, name: &str) -> Vec<u8> {
        // 4.5.3: both sizes in the zip64 field, both short fields all ones.
        let (extra, compressed, size) = if self.zip64 {
            (zip64_extra(&[self.size, self.compressed]), u32::MAX, u32::MAX)
        } else {
            (Vec::new(), short(self.compressed), short(self.size))
        };
        let fields = Fields::default().u32(0x0403_4b50).u16(self.version_needed());
        let fields = self.common(fields, name).u32(compressed).u32(size);
        fields
            .u16(short_count(name.len()))
            .u16(short_count(extra.len()))
            .bytes(name.as_bytes())
            .bytes(&extra)
            .0
    }

    /// Directory entry (4.3.12).
    pub(super) fn central(&self, name: &str) -> Vec<u8> {
        // 4.5.3: only values with a short field of all ones.
        let long: Vec<u64> = [self.size, self.compressed, self.offset]
            .into_iter()
            .filter(|value| *value >= MAX_32)
            .collect();
        let extra = zip64_extra(&long);
        let fields = Fields::default()
            .u32(0x0201_4b50)
            .u16(UNIX + self.version_needed())
            .u16(self.version_needed());
        let fields = self.common(fields, name).u32(short(self.compressed)).u32(short(self.size));
        let fields = fields.u16(short_count(name.len())).u16(short_count(extra.len()));
        // No comment, disk 0, no internal attributes; the mode is the external upper half.
        let fields = fields.u16(0).u16(0).u16(0).u32(self.mode << 16).u32(short(self.offset));
        fields.bytes(name.as_bytes()).bytes(&extra).0
    }

    fn common(&self, fields: Fields, name: &str) -> Fields {
        let flags = if name.is_ascii() { 0 } else { UTF_8 };
        let method = match self.method {
            Method::Store => 0,
            Method::Deflate => 8,
        };
        let (time, date) = self.time;
        fields.u16(flags).u16(method).u16(time).u16(date).u32(self.crc)
    }

    /// 4.5 for zip64, otherwise 2.0, which includes deflate (4.4.3).
    fn version_needed(&self) -> u16 {
        if self.zip64 || self.offset >= MAX_32 { 45 } else { 20 }
    }
}

/// End record (4.3.16), preceded by zip64 records (4.3.14, 4.3.15) if values need them.
pub(super) fn end(entries: usize, directory: u64, length: u64) -> Vec<u8> {
    let zip64 = entries >= MAX_16 || directory >= MAX_32 || length >= MAX_32;
    let fields =
        if zip64 { zip64_end(entries as u64, directory, length) } else { Fields::default() };
    let fields =
        fields.u32(0x0605_4b50).u16(0).u16(0).u16(short_count(entries)).u16(short_count(entries));
    fields.u32(short(length)).u32(short(directory)).u16(0).0
}

fn zip64_end(entries: u64, directory: u64, length: u64) -> Fields {
    // 44 is the size of the rest of the record.
    let record = Fields::default().u32(0x0606_4b50).u64(44).u16(UNIX + 45).u16(45).u32(0).u32(0);
    let record = record.u64(entries).u64(entries).u64(length).u64(directory);
    record.u32(0x0706_4b50).u32(0).u64(directory + length).u32(1)
}
