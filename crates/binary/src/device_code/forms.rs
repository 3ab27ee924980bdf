//! Forms of device code in a file, each read by some generations of runtimes.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufReader, Read};

use super::elf::{AMDGPU, Cursor, alignment};
use super::{START, archive, bundle};
use crate::ReadAt;
use crate::fat;

/// Form of device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeForm {
    /// Code object, with the version of its ABI.
    Object(u8),
    /// Compressed offload bundle, with the version of its header.
    Bundle(u8),
    /// Archive of code, or a library that refers to one.
    Archive,
}

/// `EI_OSABI` of code objects of this ABI.
const OS_ABI: u8 = 64;
/// `EI_ABIVERSION` counts from version 2 of the ABI.
const FIRST_VERSION: u8 = 2;

/// Returns the forms of the code in a file: a code object, an archive, a bundle or a binary.
pub fn forms(file: &(impl ReadAt + ?Sized)) -> io::Result<BTreeSet<CodeForm>> {
    let mut forms = BTreeSet::new();
    let len = file.len()?;
    let mut start = [0; START];
    if len < START as u64 {
        return Ok(forms);
    }
    file.read_exact_at(0, &mut start)?;
    let is_elf = start.starts_with(b"\x7fELF");
    if is_elf && u16::from_le_bytes([start[18], start[19]]) == AMDGPU {
        forms.extend(of_object(&start));
        return Ok(forms);
    }
    if archive::table_offset(&start).is_some() {
        return Ok([CodeForm::Archive].into());
    }
    if fat::refers_to_archives(file) {
        forms.insert(CodeForm::Archive);
    }
    let step = if is_elf || start.starts_with(b"MZ") { alignment(is_elf) as u64 } else { len };
    let mut offset = 0;
    while offset + START as u64 <= len {
        file.read_exact_at(offset, &mut start)?;
        if bundle::is_one(&start) {
            // A damaged bundle has no forms, like a constant in a program that reads bundles.
            let bytes = BufReader::new(Cursor { file, at: offset, len });
            forms.extend(of_bundle(&start, bytes).unwrap_or_default());
        }
        offset += step;
    }
    Ok(forms)
}

fn of_object(start: &[u8]) -> Option<CodeForm> {
    let is_one = start.starts_with(b"\x7fELF") && start.get(7) == Some(&OS_ABI);
    let version = *start.get(8).filter(|_| is_one)?;
    Some(CodeForm::Object(version.checked_add(FIRST_VERSION)?))
}

fn of_bundle(start: &[u8], bytes: impl Read) -> io::Result<BTreeSet<CodeForm>> {
    let mut forms = BTreeSet::new();
    let version = bundle::version(start);
    forms.extend(version.map(CodeForm::Bundle));
    bundle::each_start(bytes, START, |code| forms.extend(of_object(code)))?;
    Ok(forms)
}

impl fmt::Display for CodeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(version) => write!(f, "code objects of version {version}"),
            Self::Bundle(version) => write!(f, "compressed bundles of version {version}"),
            Self::Archive => f.write_str("code in archives"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bundle::tests::{bundle_of, compressed};
    use super::*;

    fn object(version: u8) -> Vec<u8> {
        let mut object = vec![0; 64];
        object[..9].copy_from_slice(&[
            0x7f,
            b'E',
            b'L',
            b'F',
            2,
            1,
            1,
            OS_ABI,
            version - FIRST_VERSION,
        ]);
        object[18..20].copy_from_slice(&AMDGPU.to_le_bytes());
        object
    }

    #[test]
    fn objects_bundles_and_archives_have_their_forms() {
        assert_eq!(forms(&object(5)).unwrap(), [CodeForm::Object(5)].into());
        let plain = bundle_of("hipv4-amdgcn-amd-amdhsa--gfx942", &object(6));
        assert_eq!(forms(&plain).unwrap(), [CodeForm::Object(6)].into());
        let both = [CodeForm::Object(6), CodeForm::Bundle(3)];
        assert_eq!(forms(&compressed(3, 1, &plain)).unwrap(), both.into());
        let mut library = vec![0; 4096];
        library[..4].copy_from_slice(b"\x7fELF");
        library.extend(compressed(2, 0, &plain));
        let both = [CodeForm::Object(6), CodeForm::Bundle(2)];
        assert_eq!(forms(&library).unwrap(), both.into());
        assert!(forms(&vec![0; 100]).unwrap().is_empty());
        assert!(forms(&Vec::new()).unwrap().is_empty());
        assert!(forms(&plain[..60].to_vec()).unwrap().is_empty());
    }
}
