//! The dynamic section and its string table.

use object::elf::{self, Dyn64, DynamicTag};
use object::endian::{I64, LittleEndian as LE, U64};
use object::pod;

use super::error::ElfError;
use super::header::{Segment, read_bytes, records};
use crate::ReadAt;

/// Bytes of an entry.
pub(super) const ENTRY_SIZE: u64 = size_of::<Dyn64<LE>>() as u64;

/// An entry of the dynamic section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DynamicEntry {
    pub tag: DynamicTag,
    pub value: u64,
}

/// The dynamic section, where `PT_DYNAMIC` says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dynamic {
    /// Where it stands in the file.
    pub offset: u64,
    /// Where it stands in memory.
    pub address: u64,
    /// The entries before the first `DT_NULL`.
    pub entries: Vec<DynamicEntry>,
    /// How many entries fit, with the `DT_NULL`s.
    pub capacity: u64,
}

/// The table that the dynamic section's names are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Strings {
    pub offset: u64,
    pub address: u64,
    pub bytes: Vec<u8>,
}

impl Dynamic {
    /// Reads what `segment` (`PT_DYNAMIC`) shows.
    pub(super) fn read(
        file: &(impl ReadAt + ?Sized),
        have: u64,
        segment: &Segment,
    ) -> Result<Self, ElfError> {
        let bytes =
            read_bytes(file, have, segment.offset, segment.file_size, "the dynamic section")?;
        let all = records::<Dyn64<LE>>(&bytes).iter().map(DynamicEntry::from);
        let capacity = segment.file_size / ENTRY_SIZE;
        let entries: Vec<_> = all.take_while(|entry| entry.tag != elf::DT_NULL).collect();
        if entries.len() as u64 == capacity {
            return Err(ElfError::Dynamic {
                field: "count of entries without a DT_NULL",
                value: capacity,
            });
        }
        Ok(Self { offset: segment.offset, address: segment.address, entries, capacity })
    }

    /// The value of the last entry of `tag`, the one that loaders take.
    pub(super) fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.all(tag).last()
    }

    /// The values of all entries of `tag`, in order.
    pub(super) fn all(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(move |entry| entry.tag == tag).map(|entry| entry.value)
    }
}

impl DynamicEntry {
    /// The entry as it stands in a file.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let raw = Dyn64::<LE> { d_tag: I64::new(LE, self.tag), d_val: U64::new(LE, self.value) };
        pod::bytes_of(&raw).to_vec()
    }
}

impl From<&Dyn64<LE>> for DynamicEntry {
    fn from(raw: &Dyn64<LE>) -> Self {
        Self { tag: raw.d_tag.get(LE), value: raw.d_val.get(LE) }
    }
}

impl Strings {
    /// The string that starts at `offset` of the table, without its end mark.
    pub(super) fn get(&self, offset: u64) -> Option<&[u8]> {
        let rest = self.bytes.get(usize::try_from(offset).ok()?..)?;
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }

    /// As [`Strings::get`], for the entry or field called `field`.
    pub(super) fn named(&self, field: &'static str, offset: u64) -> Result<&[u8], ElfError> {
        self.get(offset).ok_or(ElfError::Dynamic { field, value: offset })
    }

    /// Where `value` stands in the table, alone or as the end of a longer string.
    pub(super) fn find(&self, value: &[u8]) -> Option<u64> {
        let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == 0);
        ends.map(|(end, _)| &self.bytes[..end])
            .find(|text| text.ends_with(value))
            .map(|text| (text.len() - value.len()) as u64)
    }
}
