use std::collections::BTreeSet;

pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Takes the next `count` bytes; `None` if fewer remain.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }
}

/// Little-endian number at `at`; 0 if the bytes are missing.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map_or(0, u16::from_le_bytes)
}

/// Little-endian number at `at`; 0 if the bytes are missing.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map_or(0, u32::from_le_bytes)
}

/// Little-endian number at `at`; 0 if the bytes are missing.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map_or(0, u64::from_le_bytes)
}

pub(super) const ZIP64: u16 = 1;

/// Returns the fault of extra fields, if any. Up to three bytes after them are padding.
pub(super) fn fault(fields: &[u8]) -> Option<&'static str> {
    let (mut rest, mut kinds) = (Fields(fields), BTreeSet::new());
    while let Some(head) = rest.take(4) {
        if rest.take(u16_at(head, 2).into()).is_none() {
            return Some("extra field that ends after its header, which installers reject");
        }
        if !kinds.insert(u16_at(head, 0)) {
            return Some("two extra fields of one kind, which installers reject");
        }
    }
    None
}

/// Takes zip64 values for overflowing fields; `None` if one is missing (APPNOTE 4.5.3).
pub(super) fn zip64_values<const N: usize>(extra: &[u8], small: [u32; N]) -> Option<[u64; N]> {
    let mut rest = Fields(extra_field(extra, ZIP64).unwrap_or_default());
    let mut values = [0; N];
    for (value, small) in values.iter_mut().zip(small) {
        *value = if small == u32::MAX { u64_at(rest.take(8)?, 0) } else { small.into() };
    }
    Some(values)
}

pub(super) fn extra_field(fields: &[u8], kind: u16) -> Option<&[u8]> {
    let mut rest = Fields(fields);
    loop {
        let head = rest.take(4)?;
        let content = rest.take(u16_at(head, 2).into())?;
        if u16_at(head, 0) == kind {
            return Some(content);
        }
    }
}
