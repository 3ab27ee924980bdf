//! Required x86-64 level (x86-64 psABI, "Program property").

use object::elf;

use super::error::ElfError;
use super::header::read_bytes;
use super::info::ElfInfo;
use crate::Machine;
use crate::ReadAt;

const ISA_NEEDED: u32 = 0xc000_8002;
const PROPERTIES: u32 = 5;
/// Larger notes are ignored; real ones are small.
const LARGEST_NOTE: u64 = 1 << 20;

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
        for note in
            notes.filter(|note| note.file_size <= LARGEST_NOTE && note.file_end() <= self.file_len)
        {
            let bytes = read_bytes(file, self.file_len, note.offset, note.file_size, "a note")?;
            if let Some(bits) = needed(&bytes, if note.align == 8 { 8 } else { 4 }) {
                return Ok(level(bits));
            }
        }
        Ok(None)
    }
}

fn level(bits: u32) -> Option<u8> {
    [(8, 4), (4, 3), (2, 2)].into_iter().find(|(bit, _)| bits & bit != 0).map(|(_, level)| level)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn needed(notes: &[u8], align: usize) -> Option<u32> {
    let mut offset = 0;
    loop {
        let (name_len, len, kind) = (
            word(notes, offset)? as usize,
            word(notes, offset + 4)? as usize,
            word(notes, offset + 8)?,
        );
        let name_at = offset + 12;
        let start = name_at.checked_add(name_len)?.next_multiple_of(align);
        let end = start.checked_add(len)?;
        if kind == PROPERTIES && notes.get(name_at..name_at + name_len)? == b"GNU\0" {
            return property(notes.get(start..end)?);
        }
        offset = end.checked_next_multiple_of(align)?;
    }
}

fn property(properties: &[u8]) -> Option<u32> {
    let mut offset = 0;
    loop {
        let (kind, len) = (word(properties, offset)?, word(properties, offset + 4)? as usize);
        if kind == ISA_NEEDED && len == 4 {
            return word(properties, offset + 8);
        }
        offset = (offset + 8).checked_add(len)?.next_multiple_of(8);
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
        let told = |notes: &[u8]| needed(notes, 8).and_then(level);
        assert_eq!(told(&note(PROPERTIES, &[(0xc000_0002, 3), (ISA_NEEDED, 0b0111)])), Some(3));
        assert_eq!(
            told(&[note(1, &[]), note(PROPERTIES, &[(ISA_NEEDED, 0b1000)])].concat()),
            Some(4)
        );
        assert_eq!(told(&note(PROPERTIES, &[(ISA_NEEDED, 1)])), None, "the baseline");
        assert_eq!(
            told(&note(PROPERTIES, &[(0xc001_0002, 15)])),
            None,
            "what is used if it is there"
        );
    }

    #[test]
    fn ignores_broken_notes() {
        let whole = note(PROPERTIES, &[(ISA_NEEDED, 2)]);
        for end in 0..whole.len() - 4 {
            assert_eq!(needed(&whole[..end], 8), None, "{end}");
        }
        assert_eq!(needed(&[0xff; 64], 4), None);
    }
}
