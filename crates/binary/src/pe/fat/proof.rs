use object::endian::LittleEndian as LE;
use object::pe::ImageSectionHeader;

use super::emptying::{flags_of_zeros, marker_flags, moved, pointers};
use super::headers::{Headers, addresses, padded, place};
use super::moves::Moves;
use super::{FatPe, checksum, references, tables};
use crate::ReadAt;
use crate::fat::{ADDRESS_OFFSET, CHUNK, FatError, not_zero};
use crate::overlay::{Overlay, lay};
use crate::pe::image::Image;
use base::names::offload::PE_MARKER;

impl FatPe {
    /// Verifies that `new` is `old`, the file of these facts, without its bundles: each byte of the
    /// new file is the marker, one of the old file, or a field that is compared.
    pub fn prove(
        &self,
        old: &impl ReadAt,
        new: &impl ReadAt,
        marker: &[u8],
    ) -> Result<(), FatError> {
        let image = Image::read(new)?.ok_or_else(|| broken("it has no PE signature"))?;
        let now = Headers::read(&image)?;
        let proof = Proof { fat: self, now: &now, image: &image, old, new };
        let moves = proof.moves(marker.len() as u64)?;
        proof.headers(&moves)?;
        proof.content(&moves, marker)?;
        proof.references(&moves)?;
        proof.checksum()
    }
}

fn broken(detail: impl Into<String>) -> FatError {
    FatError::Proof(detail.into())
}

struct Proof<'p, O, N> {
    fat: &'p FatPe,
    now: &'p Headers,
    image: &'p Image<'p, N>,
    old: &'p O,
    new: &'p N,
}

impl<O: ReadAt, N: ReadAt> Proof<'_, O, N> {
    /// Returns the places of the parts, by the marker's section and the new size of the headers.
    fn moves(&self, marker: u64) -> Result<Moves, FatError> {
        let (old, count) = (&self.fat.headers, self.fat.headers.entries.len());
        if (self.now.optional_at, self.now.table_at) != (old.optional_at, old.table_at) {
            return Err(broken("its headers are at another place"));
        }
        let last = self.now.entries.last().filter(|_| self.now.entries.len() == count + 1);
        let last = last.ok_or_else(|| broken("it has another number of sections"))?;
        let (start, align) = (old.memory_end(), old.file_alignment());
        let is_plain = last.name == padded(PE_MARKER)
            && addresses(last) == (start..start + marker)
            && last.characteristics.get(LE) == marker_flags()
            && (last.number_of_relocations.get(LE), last.number_of_linenumbers.get(LE)) == (0, 0)
            && (last.pointer_to_relocations.get(LE), last.pointer_to_linenumbers.get(LE)) == (0, 0);
        let moves = Moves {
            headers: old.bytes.len() as u64,
            new_headers: self.now.bytes.len() as u64,
            gone: place(self.fat.bundles_entry()),
            end: old.sections_end(),
            marker: place(last),
        };
        let first = old.entries.iter().map(|entry| addresses(entry).start).min();
        let grows = moves.new_headers.checked_sub(moves.headers);
        let fits = grows.is_some_and(|more| more % align == 0)
            && first.is_none_or(|first| moves.new_headers <= first);
        if !fits {
            return Err(broken(format!("its headers have {:#x} bytes", moves.new_headers)));
        }
        let begin = moves.sections_end().next_multiple_of(align);
        let end = (begin + marker).next_multiple_of(align);
        if !is_plain || moves.marker != (begin..end) || moves.moved(old.len) != self.now.len {
            return Err(broken("its last section is not the marker"));
        }
        Ok(moves)
    }

    /// Compares each field that may differ, and all others with the old ones.
    fn headers(&self, moves: &Moves) -> Result<(), FatError> {
        let (old, mut back) = (&self.fat.headers, self.now.clone());
        let size = size_of::<ImageSectionHeader>();
        back.entries.pop();
        back.bytes[old.table_end()..old.table_end() + size].fill(0);
        for (index, (entry, was)) in back.entries.iter_mut().zip(&old.entries).enumerate() {
            self.section(index, *entry, *was, moves)?;
            let mut was = *was;
            for (pointer, old_pointer) in pointers(entry).into_iter().zip(pointers(&mut was)) {
                *pointer = *old_pointer;
            }
            if index == self.fat.section {
                entry.virtual_size = was.virtual_size;
                entry.size_of_raw_data = was.size_of_raw_data;
                entry.characteristics = was.characteristics;
            }
        }
        let symbols = moved(moves, old.file.pointer_to_symbol_table.get(LE));
        let count = usize::from(back.file.number_of_sections.get(LE));
        let image = back.optional.size_of_image.get(LE);
        let data = (
            back.optional.size_of_initialized_data.get(LE),
            back.optional.size_of_uninitialized_data.get(LE),
        );
        let right = u64::from(back.file.pointer_to_symbol_table.get(LE)) == symbols
            && count == old.entries.len() + 1
            && u64::from(image) == self.now.memory_end()
            && data == self.fat.sizes_of_data(moves);
        back.file.pointer_to_symbol_table = old.file.pointer_to_symbol_table;
        back.file.number_of_sections = old.file.number_of_sections;
        back.optional.size_of_image = old.optional.size_of_image;
        back.optional.size_of_initialized_data = old.optional.size_of_initialized_data;
        back.optional.size_of_uninitialized_data = old.optional.size_of_uninitialized_data;
        back.optional.size_of_headers = old.optional.size_of_headers;
        back.optional.check_sum = old.optional.check_sum;
        let is_longer_by_zeros = back.bytes[old.bytes.len()..].iter().all(|byte| *byte == 0);
        if !right || !is_longer_by_zeros || back.to_bytes() != old.bytes {
            return Err(broken("its headers differ"));
        }
        Ok(())
    }

    fn section(
        &self,
        index: usize,
        mut now: ImageSectionHeader,
        mut was: ImageSectionHeader,
        moves: &Moves,
    ) -> Result<(), FatError> {
        let wrong = || broken(format!("its section {index} is at another place"));
        let expected = pointers(&mut was).map(|pointer| moved(moves, pointer.get(LE)));
        let actual = pointers(&mut now).map(|pointer| u64::from(pointer.get(LE)));
        let (right, from) = if index == self.fat.section {
            let is_empty = place(&now) == (0..0) && addresses(&now) == addresses(&was);
            let flags = flags_of_zeros(was.characteristics.get(LE));
            (is_empty && now.characteristics.get(LE) == flags, 1)
        } else {
            (true, 0)
        };
        if right && expected[from..] == actual[from..] { Ok(()) } else { Err(wrong()) }
    }

    fn content(&self, moves: &Moves, marker: &[u8]) -> Result<(), FatError> {
        let changes = self.fat.changes(self.old, moves)?;
        let end = self.fat.headers.len;
        let gone = &moves.gone;
        for part in [moves.headers..gone.start, gone.end..moves.end, moves.end..end] {
            self.part(part, moves, &changes)?;
        }
        let mut bytes = vec![0; marker.len()];
        self.new.read_exact_at(moves.marker.start, &mut bytes).map_err(FatError::Read)?;
        if bytes != marker {
            return Err(broken("its marker differs"));
        }
        let marker_end = moves.marker.start + marker.len() as u64;
        for padding in [moves.sections_end()..moves.marker.start, marker_end..moves.marker.end] {
            if let Some(at) = not_zero(self.new, padding)? {
                return Err(broken(format!("the byte at {at:#x} is not zero")));
            }
        }
        Ok(())
    }

    fn part(
        &self,
        part: std::ops::Range<u64>,
        moves: &Moves,
        changes: &[Overlay],
    ) -> Result<(), FatError> {
        let most = usize::try_from(part.end - part.start).unwrap_or(CHUNK).min(CHUNK);
        let (mut old, mut new, mut offset) = (vec![0; most], vec![0; most], part.start);
        while offset < part.end {
            let size = usize::try_from(part.end - offset).unwrap_or(CHUNK).min(CHUNK);
            let (old, new, at) = (&mut old[..size], &mut new[..size], moves.moved(offset));
            self.old.read_exact_at(offset, old).map_err(FatError::Read)?;
            lay(changes, offset, old).map_err(FatError::Read)?;
            self.new.read_exact_at(at, new).map_err(FatError::Read)?;
            if old != new {
                let inside = old.iter().zip(&*new).take_while(|(old, new)| old == new).count();
                return Err(broken(format!("the byte at {:#x} differs", at + inside as u64)));
            }
            offset += size as u64;
        }
        Ok(())
    }

    /// Follows records and debug data anew.
    fn references(&self, moves: &Moves) -> Result<(), FatError> {
        let (now, fat) = (self.now, self.fat);
        let code = addresses(&now.entries[fat.section]);
        let table = addresses(&now.entries[fat.table]);
        let pointers = references::pointers(self.image, now, &code, &table)?;
        let (base, marker) = (now.optional.image_base.get(LE), fat.headers.memory_end());
        for record in &fat.records.list {
            let at = record.address + ADDRESS_OFFSET;
            let bytes = references::memory(self.image, now, at, ADDRESS_OFFSET)?;
            let stored = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            let target = pointers.get(&at).copied().unwrap_or(stored.wrapping_sub(base));
            if target != marker {
                let address = record.address;
                return Err(broken(format!("the record at {address:#x} leads to no marker")));
            }
        }
        let expected =
            fat.debug.iter().map(|data| (moves.moved(data.at), moved(moves, data.points_to)));
        let actual = tables::debug_data(self.image, &(0..0))?;
        let actual = actual.iter().map(|data| (data.at, u64::from(data.points_to)));
        if expected.eq(actual) { Ok(()) } else { Err(broken("its debug directory differs")) }
    }

    fn checksum(&self) -> Result<(), FatError> {
        let [old, new] = [&self.fat.headers, self.now].map(|it| it.optional.check_sum.get(LE));
        let expected = if old == 0 { 0 } else { checksum::of(self.new, self.now.checksum_at())? };
        if new == expected { Ok(()) } else { Err(broken(format!("its checksum is {new:#x}"))) }
    }
}
