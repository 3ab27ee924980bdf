//! PE headers, and translation of addresses to file offsets.

use object::endian::{LittleEndian as LE, U32};
use object::pe::{
    self, FileFlags, ImageDosHeader, ImageFileHeader, ImageOptionalHeader32, ImageOptionalHeader64,
    ImageSectionHeader, Subsystem,
};
use object::pod::{self, Pod};

use super::error::PeError;
use crate::{Machine, ReadAt};

/// Limit of the Windows loader ("Section Table").
pub(super) const MOST_SECTIONS: u16 = 96;
/// Windows' limit of a path (`MAX_PATH`).
const LONGEST_NAME: usize = 260;
/// Read at first.
const USUAL_SYMBOL: usize = 128;
/// Limit of Microsoft's compiler is 4096, of others more.
const LONGEST_SYMBOL: usize = 1 << 16;

pub(super) struct Image<'r, R: ?Sized> {
    file: &'r R,
    pub len: u64,
    pub machine: Machine,
    pub flags: FileFlags,
    pub subsystem: Subsystem,
    /// Only 32-bit files have absolute addresses.
    pub base: Option<u32>,
    headers: u32,
    /// Offset of the file header.
    pub header: u64,
    /// Offset of the section table.
    pub table: u64,
    /// Address and file offset of each directory.
    directories: Vec<(u32, u64)>,
    sections: Vec<Section>,
}

struct Section {
    address: u32,
    offset: u32,
    len: u32,
}

struct Optional {
    bits: u8,
    base: Option<u32>,
    headers: u32,
    subsystem: Subsystem,
    directories: u32,
    len: u64,
}

impl<'r, R: ReadAt + ?Sized> Image<'r, R> {
    pub fn read(file: &'r R) -> Result<Option<Self>, PeError> {
        let len =
            file.len().map_err(|source| PeError::Read { what: "the file's length", source })?;
        let mut image = Self {
            file,
            len,
            machine: Machine::X86_64,
            flags: FileFlags(0),
            subsystem: pe::IMAGE_SUBSYSTEM_UNKNOWN,
            base: None,
            headers: 0,
            header: 0,
            table: 0,
            directories: Vec::new(),
            sections: Vec::new(),
        };
        let Some(offset) = image.signature()? else { return Ok(None) };
        let offset = offset + 4;
        let header: ImageFileHeader = image.record(offset, "the file header")?;
        let after = offset + size_of::<ImageFileHeader>() as u64;
        let optional = image.optional(after, header.size_of_optional_header.get(LE))?;
        image.machine = machine(header.machine.get(LE), optional.bits);
        image.flags = header.characteristics.get(LE);
        (image.subsystem, image.base) = (optional.subsystem, optional.base);
        image.headers = optional.headers;
        image.read_directories(after + optional.len, optional.directories)?;
        let sections = after + u64::from(header.size_of_optional_header.get(LE));
        (image.header, image.table) = (offset, sections);
        image.read_sections(offset, sections, header.number_of_sections.get(LE))?;
        Ok(Some(image))
    }

    fn signature(&self) -> Result<Option<u64>, PeError> {
        let dos = size_of::<ImageDosHeader>() as u64;
        if self.len < dos {
            return Ok(None);
        }
        let dos: ImageDosHeader = self.record(0, "the DOS header")?;
        let offset = u64::from(dos.e_lfanew.get(LE));
        if dos.e_magic.get(LE) != pe::IMAGE_DOS_SIGNATURE || offset + 4 > self.len {
            return Ok(None);
        }
        let signature: U32<LE> = self.record(offset, "the signature")?;
        Ok((signature.get(LE) == pe::IMAGE_NT_SIGNATURE).then_some(offset))
    }

    fn optional(&self, at: u64, len: u16) -> Result<Optional, PeError> {
        let magic: object::endian::U16<LE> = self.record(at, "the optional header")?;
        let optional = match magic.get(LE) {
            pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => {
                let header: ImageOptionalHeader32 = self.record(at, "the optional header")?;
                Optional {
                    bits: 32,
                    base: Some(header.image_base.get(LE)),
                    headers: header.size_of_headers.get(LE),
                    subsystem: header.subsystem.get(LE),
                    directories: header.number_of_rva_and_sizes.get(LE),
                    len: size_of::<ImageOptionalHeader32>() as u64,
                }
            }
            pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC => {
                let header: ImageOptionalHeader64 = self.record(at, "the optional header")?;
                Optional {
                    bits: 64,
                    base: None,
                    headers: header.size_of_headers.get(LE),
                    subsystem: header.subsystem.get(LE),
                    directories: header.number_of_rva_and_sizes.get(LE),
                    len: size_of::<ImageOptionalHeader64>() as u64,
                }
            }
            value => {
                return Err(PeError::Field { field: "Magic", offset: at, value: value.into() });
            }
        };
        // NumberOfRvaAndSizes is the last field of the header.
        let most = u64::from(len).saturating_sub(optional.len) / 8;
        if u64::from(optional.directories) > most || u64::from(len) < optional.len {
            let (field, offset) = ("NumberOfRvaAndSizes", at + optional.len - 4);
            return Err(PeError::Field { field, offset, value: optional.directories.into() });
        }
        Ok(optional)
    }

    fn read_directories(&mut self, at: u64, count: u32) -> Result<(), PeError> {
        let most = u32::try_from(pe::IMAGE_NUMBEROF_DIRECTORY_ENTRIES).unwrap_or(u32::MAX);
        for index in 0..count.min(most) {
            let offset = at + 8 * u64::from(index);
            let address: U32<LE> = self.record(offset, "the data directories")?;
            self.directories.push((address.get(LE), offset));
        }
        Ok(())
    }

    fn read_sections(&mut self, header: u64, at: u64, count: u16) -> Result<(), PeError> {
        if count > MOST_SECTIONS {
            let (field, offset) = ("NumberOfSections", header + 2);
            return Err(PeError::Field { field, offset, value: count.into() });
        }
        for index in 0..u64::from(count) {
            let offset = at + index * size_of::<ImageSectionHeader>() as u64;
            let section: ImageSectionHeader = self.record(offset, "a section header")?;
            let (raw, place) =
                (section.size_of_raw_data.get(LE), section.pointer_to_raw_data.get(LE));
            if u64::from(place) + u64::from(raw) > self.len && raw > 0 {
                let (part, offset) = ("a section", place.into());
                return Err(PeError::Truncated {
                    what: part,
                    offset,
                    len: raw.into(),
                    container: "the file",
                    end: self.len,
                });
            }
            // Old linkers write 0 as the size in memory.
            let size = match section.virtual_size.get(LE) {
                0 => raw,
                size => size.min(raw),
            };
            let address = section.virtual_address.get(LE);
            if address.checked_add(size).is_none() {
                let (field, offset) = ("VirtualAddress", offset + 12);
                return Err(PeError::Field { field, offset, value: address.into() });
            }
            self.sections.push(Section { address, offset: place, len: size });
        }
        Ok(())
    }

    pub fn directory(&self, index: usize) -> Option<(u32, u64)> {
        self.directories.get(index).copied().filter(|(address, _)| *address != 0)
    }

    /// Size of the directory whose entry is at offset `from`.
    pub fn directory_size(&self, from: u64) -> Result<u32, PeError> {
        let size: U32<LE> = self.record(from + 4, "the data directories")?;
        Ok(size.get(LE))
    }

    /// File offset of an address and of its section's end. `field` and `from` locate the address in
    /// errors.
    pub fn place(
        &self,
        address: u32,
        field: &'static str,
        from: u64,
    ) -> Result<(u64, u64), PeError> {
        if address < self.headers {
            return Ok((address.into(), u64::from(self.headers).min(self.len)));
        }
        let holds = |section: &&Section| {
            address >= section.address && address - section.address < section.len
        };
        let section = self.sections.iter().find(holds);
        let section = section.ok_or(PeError::Unmapped { field, offset: from, address })?;
        let start = u64::from(section.offset);
        Ok((start + u64::from(address - section.address), start + u64::from(section.len)))
    }

    pub fn record<T: Pod>(&self, offset: u64, what: &'static str) -> Result<T, PeError> {
        let bytes = self.bytes(offset, size_of::<T>(), what)?;
        let read = pod::from_bytes::<T>(&bytes).map(|(record, _)| *record);
        read.map_err(|()| PeError::Truncated {
            what,
            offset,
            len: size_of::<T>() as u64,
            container: "the file",
            end: self.len,
        })
    }

    /// `field` and `from` locate the address in errors.
    pub fn name(&self, address: u32, field: &'static str, from: u64) -> Result<String, PeError> {
        let (offset, end) = self.place(address, field, from)?;
        let size =
            usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(LONGEST_NAME + 1);
        let bytes = self.bytes(offset, size, "a name")?;
        let end = bytes.iter().position(|byte| *byte == 0);
        let name = end.and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
        let good = |name: &&str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        };
        let name = name.filter(good).ok_or(PeError::Name { field, offset })?;
        Ok(name.to_owned())
    }

    /// Reads like [`Image::name`], with the names of C++, which are longer and can have any byte.
    pub fn symbol(&self, address: u32, field: &'static str, from: u64) -> Result<String, PeError> {
        let (offset, end) = self.place(address, field, from)?;
        let rest = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        for most in [USUAL_SYMBOL, LONGEST_SYMBOL] {
            let bytes = self.bytes(offset, rest.min(most), "a name")?;
            if let Some(end) = bytes.iter().position(|byte| *byte == 0).filter(|end| *end > 0) {
                return Ok(String::from_utf8_lossy(&bytes[..end]).into_owned());
            }
        }
        Err(PeError::Name { field, offset })
    }

    pub fn bytes(&self, offset: u64, len: usize, what: &'static str) -> Result<Vec<u8>, PeError> {
        let (len, file_end) = (len as u64, self.len);
        if offset.checked_add(len).is_none_or(|end| end > file_end) {
            let container = "the file";
            return Err(PeError::Truncated { what, offset, len, container, end: file_end });
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = self.file.read_exact_at(offset, &mut bytes);
        read.map_err(|source| PeError::Read { what, source })?;
        Ok(bytes)
    }
}

pub(super) fn machine(number: pe::Machine, bits: u8) -> Machine {
    match (number, bits) {
        (pe::IMAGE_FILE_MACHINE_AMD64, 64) => Machine::X86_64,
        (pe::IMAGE_FILE_MACHINE_ARM64, 64) => Machine::Aarch64,
        _ => Machine::Other { number: number.0, bits, big_endian: false },
    }
}
