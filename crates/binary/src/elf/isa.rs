//! Required x86-64 level (x86-64 psABI, "Program property").

use object::elf;

use super::error::ElfError;
use super::header::read_bytes;
use super::info::ElfInfo;
use crate::Machine;
use crate::ReadAt;

/// `GNU_PROPERTY_X86_ISA_1_NEEDED`.
const ISA_NEEDED: u32 = 0xc000_8002;
/// `NT_GNU_PROPERTY_TYPE_0`.
const PROPERTIES: u32 = 5;
/// Size limit of a segment of notes, which bounds the memory for a damaged file. Larger segments are
/// ignored; real ones have less than 1 KiB.
const LARGEST_NOTES: u64 = 1 << 20;

impl ElfInfo {
    /// Returns the level; `None` for the baseline or without a property.
    pub(super) fn read_isa_level(
        &self,
        file: &(impl ReadAt + ?Sized),
    ) -> Result<Option<u8>, ElfError> {
        if self.machine != Machine::X86_64 {
            return Ok(None);
        }
        let notes =
            self.segments.iter().filter(|s| matches!(s.kind, elf::PT_GNU_PROPERTY | elf::PT_NOTE));
        // The level is only advice: notes beyond the end of a damaged file are not an error.
        let readable =
            notes.filter(|it| it.file_size <= LARGEST_NOTES && it.file_end() <= self.file_len);
        for segment in readable {
            let (offset, size) = (segment.offset, segment.file_size);
            let bytes = read_bytes(file, self.file_len, offset, size, "a note")?;
            if let Some(bits) = needed_by_notes(&bytes, if segment.align == 8 { 8 } else { 4 }) {
                return Ok(level_of(bits));
            }
        }
        Ok(None)
    }
}

/// Returns the highest level whose bit is set: bit 0 is the baseline, bit 3 is x86-64-v4.
fn level_of(bits: u32) -> Option<u8> {
    [(8, 4), (4, 3), (2, 2)].into_iter().find(|(bit, _)| bits & bit != 0).map(|(_, level)| level)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// Returns the bits of the first note with properties.
fn needed_by_notes(notes: &[u8], align: usize) -> Option<u32> {
    let mut offset = 0;
    loop {
        let (name_len, len, kind) = (
            read_u32(notes, offset)? as usize,
            read_u32(notes, offset + 4)? as usize,
            read_u32(notes, offset + 8)?,
        );
        let name_at = offset + 12;
        let start = name_at.checked_add(name_len)?.checked_next_multiple_of(align)?;
        let end = start.checked_add(len)?;
        if kind == PROPERTIES && notes.get(name_at..name_at + name_len)? == b"GNU\0" {
            return needed_by_properties(notes.get(start..end)?);
        }
        offset = end.checked_next_multiple_of(align)?;
    }
}

fn needed_by_properties(properties: &[u8]) -> Option<u32> {
    let mut offset = 0;
    loop {
        let (kind, len) =
            (read_u32(properties, offset)?, read_u32(properties, offset + 4)? as usize);
        if kind == ISA_NEEDED && len == 4 {
            return read_u32(properties, offset + 8);
        }
        offset = (offset + 8).checked_add(len)?.checked_next_multiple_of(8)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(kind: u32, properties: &[(u32, u32)]) -> Vec<u8> {
        let body: Vec<u8> = properties
            .iter()
            .flat_map(|(kind, bits)| [*kind, 4, *bits, 0])
            .flat_map(u32::to_le_bytes)
            .collect();
        let head =
            [4, u32::try_from(body.len()).unwrap(), kind].into_iter().flat_map(u32::to_le_bytes);
        head.chain(*b"GNU\0").chain(body).collect()
    }

    #[test]
    fn the_highest_bit_is_the_level() {
        // GNU_PROPERTY_X86_ISA_1_USED and GNU_PROPERTY_X86_FEATURE_1_AND.
        const ISA_USED: u32 = 0xc001_0002;
        const FEATURES: u32 = 0xc000_0002;
        let level = |notes: &[u8]| needed_by_notes(notes, 8).and_then(level_of);
        assert_eq!(level(&note(PROPERTIES, &[(FEATURES, 3), (ISA_NEEDED, 0b0111)])), Some(3));
        assert_eq!(
            level(&[note(1, &[]), note(PROPERTIES, &[(ISA_NEEDED, 0b1000)])].concat()),
            Some(4)
        );
        assert_eq!(level(&note(PROPERTIES, &[(ISA_NEEDED, 1)])), None, "the baseline");
        assert_eq!(
            level(&note(PROPERTIES, &[(ISA_USED, 15)])),
            None,
            "the program checks the processor before it uses these"
        );
    }

    #[test]
    fn ignores_broken_notes() {
        let whole = note(PROPERTIES, &[(ISA_NEEDED, 2)]);
        for end in 0..whole.len() {
            assert_eq!(needed_by_notes(&whole[..end], 8), None, "{end}");
        }
        assert_eq!(needed_by_notes(&[0xff; 64], 4), None);
    }
}
