use object::Endianness;
use object::elf::{
    Dyn32, Dyn64, FileHeader32, FileHeader64, ProgramHeader32, ProgramHeader64, SectionHeader32,
    SectionHeader64, Sym32, Sym64,
};
use object::endian::U16;
use object::pod::{self, Pod};

use crate::Machine;

type E = Endianness;

/// Class and byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub wide: bool,
    pub endian: Endianness,
}

/// Ignores an incomplete record at the end.
pub(super) fn records<T: Pod>(bytes: &[u8]) -> &[T] {
    pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).map_or(&[], |(records, _)| records)
}

impl Format {
    pub(super) fn for_machine(machine: Machine) -> Self {
        match machine {
            Machine::X86_64 | Machine::Aarch64 => Self { wide: true, endian: E::Little },
            Machine::Other { bits, big_endian, .. } => {
                Self { wide: bits == 64, endian: if big_endian { E::Big } else { E::Little } }
            }
        }
    }

    fn size<Wide, Narrow>(self) -> u64 {
        (if self.wide { size_of::<Wide>() } else { size_of::<Narrow>() }) as u64
    }

    pub(super) fn header_size(self) -> u64 {
        self.size::<FileHeader64<E>, FileHeader32<E>>()
    }

    pub(super) fn segment_size(self) -> u64 {
        self.size::<ProgramHeader64<E>, ProgramHeader32<E>>()
    }

    pub(super) fn section_size(self) -> u64 {
        self.size::<SectionHeader64<E>, SectionHeader32<E>>()
    }

    pub(super) fn dynamic_size(self) -> u64 {
        self.size::<Dyn64<E>, Dyn32<E>>()
    }

    pub(super) fn symbol_size(self) -> u64 {
        self.size::<Sym64<E>, Sym32<E>>()
    }

    /// Size of a word of the Bloom filter in `DT_GNU_HASH`.
    pub(super) fn word_size(self) -> u64 {
        self.size::<u64, u32>()
    }

    pub(super) fn map_records<Wide: Pod, Narrow: Pod, T>(
        self,
        bytes: &[u8],
        wide: impl Fn(&Wide, Endianness) -> T,
        narrow: impl Fn(&Narrow, Endianness) -> T,
    ) -> Vec<T> {
        if self.wide {
            records(bytes).iter().map(|raw| wide(raw, self.endian)).collect()
        } else {
            records(bytes).iter().map(|raw| narrow(raw, self.endian)).collect()
        }
    }

    pub(super) fn halves(self, bytes: &[u8]) -> Vec<u16> {
        records::<U16<E>>(bytes).iter().map(|half| half.get(self.endian)).collect()
    }

    pub(super) fn word(self, bytes: [u8; 4]) -> u32 {
        match self.endian {
            E::Little => u32::from_le_bytes(bytes),
            E::Big => u32::from_be_bytes(bytes),
        }
    }
}
