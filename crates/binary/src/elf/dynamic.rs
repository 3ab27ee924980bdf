use object::Endianness;
use object::elf::{self, Dyn32, Dyn64, DynamicTag};
use object::endian::{I64, LittleEndian as LE, U64};
use object::pod;
use object::read::elf::Dyn;

use super::error::ElfError;
use super::format::Format;
use super::header::{Segment, read_bytes};
use crate::ReadAt;

pub(super) const ENTRY_SIZE: u64 = size_of::<Dyn64<LE>>() as u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DynamicEntry {
    pub tag: DynamicTag,
    pub value: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dynamic {
    pub offset: u64,
    pub address: u64,
    /// Entries before the first `DT_NULL`.
    pub entries: Vec<DynamicEntry>,
    /// Includes `DT_NULL`s.
    pub capacity: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Strings {
    pub offset: u64,
    pub address: u64,
    pub bytes: Vec<u8>,
}

impl Dynamic {
    pub(super) fn read(
        file: &(impl ReadAt + ?Sized),
        have: u64,
        segment: &Segment,
        format: Format,
    ) -> Result<Self, ElfError> {
        let bytes =
            read_bytes(file, have, segment.offset, segment.file_size, "the dynamic section")?;
        let entries = format.map_records::<Dyn64<Endianness>, Dyn32<Endianness>, _>(
            &bytes,
            DynamicEntry::from_raw,
            DynamicEntry::from_raw,
        );
        let capacity = segment.file_size / format.dynamic_size();
        let entries: Vec<_> =
            entries.into_iter().take_while(|entry| entry.tag != elf::DT_NULL).collect();
        if entries.len() as u64 == capacity {
            return Err(ElfError::Dynamic {
                field: "count of entries without a DT_NULL",
                value: capacity,
            });
        }
        Ok(Self { offset: segment.offset, address: segment.address, entries, capacity })
    }

    /// The last value, which loaders use.
    pub(super) fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.values(tag).last()
    }

    pub(super) fn values(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(move |entry| entry.tag == tag).map(|entry| entry.value)
    }
}

impl DynamicEntry {
    fn from_raw<D: Dyn<Endian = Endianness>>(raw: &D, endian: Endianness) -> Self {
        Self { tag: raw.d_tag(endian), value: raw.d_val(endian).into() }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let raw = Dyn64::<LE> { d_tag: I64::new(LE, self.tag), d_val: U64::new(LE, self.value) };
        pod::bytes_of(&raw).to_vec()
    }
}

impl Strings {
    pub(super) fn get(&self, offset: u64) -> Option<&[u8]> {
        let rest = self.bytes.get(usize::try_from(offset).ok()?..)?;
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }

    pub(super) fn string(&self, field: &'static str, offset: u64) -> Result<&[u8], ElfError> {
        self.get(offset).ok_or(ElfError::Dynamic { field, value: offset })
    }

    pub(super) fn find(&self, value: &[u8]) -> Option<u64> {
        let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == 0);
        ends.map(|(end, _)| &self.bytes[..end])
            .find(|text| text.ends_with(value))
            .map(|text| (text.len() - value.len()) as u64)
    }
}
