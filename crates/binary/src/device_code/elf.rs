//! Code objects by ELF header, and bundles in binaries by alignment.

use std::io::{self, BufReader, Read};

use super::{Code, bundle};
use crate::ReadAt;

pub(super) const AMDGPU: u16 = 224;
/// Bits of `e_flags` with the ISA number.
const MACH: u32 = 0xff;
const CLASS_64: u8 = 2;
/// Set by compilers and kept by linkers, because the section is mapped in pages.
const ALIGNMENT: usize = 4096;
/// `FileAlignment`, smaller than the alignment in memory.
const ALIGNMENT_PE: usize = 512;
const MOST_OPEN: usize = 16;
const PIECE: usize = 256 * ALIGNMENT;

/// Distance of the places at which bundles can begin.
pub(super) fn alignment(is_elf: bool) -> usize {
    if is_elf { ALIGNMENT } else { ALIGNMENT_PE }
}

/// Returns the targets of a binary.
pub fn of_binary(file: &(impl ReadAt + ?Sized)) -> io::Result<Code> {
    let (mut code, mut start) = (Code::default(), [0; 52]);
    let len = file.len()?;
    if len < start.len() as u64 {
        return Ok(code);
    }
    file.read_exact_at(0, &mut start)?;
    let is_elf = start.starts_with(b"\x7fELF");
    if is_elf && u16::from_le_bytes([start[18], start[19]]) == AMDGPU {
        code.machs.insert(isa_number(file)?);
        return Ok(code);
    }
    let (mut piece, mut offset) = (vec![0; PIECE], 0);
    while offset < len {
        let size = usize::try_from(len - offset).unwrap_or(PIECE).min(PIECE);
        file.read_exact_at(offset, &mut piece[..size])?;
        for at in (0..size).step_by(alignment(is_elf)) {
            if bundle::is_one(&piece[at..size.min(at + 24)]) {
                let from = Cursor { file, at: offset + at as u64, len };
                code.ids.extend(bundle::targets(BufReader::new(from)).unwrap_or_default());
            }
        }
        offset += size as u64;
    }
    Ok(code)
}

/// Number of the ISA in the header of a code object.
pub(crate) fn isa_number(file: &(impl ReadAt + ?Sized)) -> io::Result<u32> {
    let mut start = [0; 52];
    file.read_exact_at(0, &mut start)?;
    let offset = if start[4] == CLASS_64 { 48 } else { 36 };
    let flags = [start[offset], start[offset + 1], start[offset + 2], start[offset + 3]];
    Ok(u32::from_le_bytes(flags) & MACH)
}

/// Returns the targets of a stream. Beyond 16 tables at a time that continue in the next piece, it
/// is marked as unread.
///
/// # Errors
/// If reading fails.
pub fn of_stream(mut file: impl Read) -> io::Result<Code> {
    let (mut code, mut piece, mut open) = (Code::default(), vec![0; PIECE], Vec::<Vec<u8>>::new());
    let mut step = None;
    loop {
        let size = fill(&mut file, &mut piece)?;
        let bytes = &piece[..size];
        let step = *step.get_or_insert_with(|| alignment(bytes.starts_with(b"\x7fELF")));
        for start in std::mem::take(&mut open) {
            let start = [&start, bytes].concat();
            code.ids.extend(bundle::targets(&start[..]).unwrap_or_default());
        }
        let starts = (0..size).step_by(step);
        for at in starts.filter(|&at| bundle::is_one(&bytes[at..size.min(at + 24)])) {
            match bundle::targets(&bytes[at..]) {
                Some(targets) => code.ids.extend(targets),
                None if open.len() < MOST_OPEN => open.push(bytes[at..].to_vec()),
                None => code.unread = Some(bundle::UNREAD),
            }
        }
        if size < PIECE {
            return Ok(code);
        }
    }
}

fn fill(file: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut size = 0;
    while size < piece.len() {
        match file.read(&mut piece[size..]) {
            Ok(0) => break,
            Ok(count) => size += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(size)
}

pub(super) struct Cursor<'f, F: ?Sized> {
    pub file: &'f F,
    pub at: u64,
    pub len: u64,
}

impl<F: ReadAt + ?Sized> Read for Cursor<'_, F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.len - self.at).unwrap_or(out.len());
        let count = out.len().min(rest);
        self.file.read_exact_at(self.at, &mut out[..count])?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bundle::tests::{bundle, compressed};
    use super::*;

    #[test]
    fn reads_isa_number_of_code_objects() {
        for (class, at) in [(2, 48), (1, 36)] {
            let mut file = [&b"\x7fELF"[..], &[class, 1, 1, 64], &[0; 56]].concat();
            file[18..20].copy_from_slice(&AMDGPU.to_le_bytes());
            file[at..at + 4].copy_from_slice(&0x54c_u32.to_le_bytes());
            assert_eq!(of_binary(&file).unwrap().machs, [0x4c].into());
            assert!(of_binary(&file[..40].to_vec()).unwrap().is_empty());
        }
    }

    fn long(ids: &[&str], bytes: usize) -> Vec<u8> {
        let host = format!("host-x86_64-unknown-linux-{}", "x".repeat(900));
        let mut all = vec![host.as_str(); bytes / 900 + 1];
        all.extend(ids);
        bundle(&all)
    }

    #[test]
    fn finds_bundles_where_compilers_write_them() {
        let mut file = vec![0; 300 * ALIGNMENT];
        file[..4].copy_from_slice(b"\x7fELF");
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(2 * ALIGNMENT, &bundle(&["hipv4-amdgcn-amd-amdhsa--gfx906"]));
        put(
            257 * ALIGNMENT,
            &compressed(3, 1, &bundle(&["hipv4-amdgcn-amd-amdhsa--gfx908:sramecc+"])),
        );
        // A constant in a program that reads bundles, and a truncated bundle.
        put(5 * ALIGNMENT + 40, &bundle(&["hipv4-amdgcn-amd-amdhsa--gfx1100"]));
        put(300 * ALIGNMENT - 30, b"__CLANG_OFFLOAD_BUNDLE__");
        // A table that continues in the next piece.
        put(256 * ALIGNMENT - ALIGNMENT, &long(&["hipv4-amdgcn-amd-amdhsa--gfx90a"], ALIGNMENT));
        assert_eq!(
            of_binary(&file).unwrap().ids,
            ["gfx906", "gfx908:sramecc+", "gfx90a"].map(str::to_owned).into()
        );
        assert_eq!(of_stream(&file[..]).unwrap(), of_binary(&file).unwrap());
        let dll = [&b"MZ"[..], &[0; 1534], &bundle(&["hipv4-amdgcn-amd-amdhsa--gfx942"])].concat();
        assert_eq!(of_binary(&dll).unwrap().ids, ["gfx942".to_owned()].into());
        assert_eq!(of_stream(&dll[..]).unwrap(), of_binary(&dll).unwrap());
    }
}
