use crate::Machine;
use crate::pe::{PeError, import_library, import_stub};

#[test]
fn a_short_import_library_names_its_dll() {
    for machine in [Machine::X86_64, Machine::Aarch64] {
        let bytes = import_stub(machine, "amdhip64_7.dll", "hipMalloc");
        let library = import_library(&bytes).unwrap().unwrap();
        assert_eq!((library.machine, library.dlls), (machine, vec!["amdhip64_7.dll".to_owned()]));
    }
}

#[test]
fn ignores_other_archives() {
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a.o/", 0, 0, 0, 644, 24);
    let elf = [b"!<arch>\n", header.as_bytes(), b"\x7fELF\x02\x01\x01", &[0; 17]].concat();
    let text = b"!<arch>\nnothing of this is an archive's".to_vec();
    for bytes in [elf, text, b"!<arch>\n".to_vec(), b"!<ar".to_vec(), Vec::new()] {
        assert_eq!(import_library(&bytes).unwrap(), None);
    }
}

#[test]
fn reports_truncation_after_the_first_dll_name() {
    let mut bytes = import_stub(Machine::X86_64, "x.dll", "x");
    let whole = bytes.len();
    bytes.extend(import_stub(Machine::X86_64, "y.dll", "y").split_off(8));
    // Valid cuts: after the second symbol table, and before the final padding byte.
    let good = [whole + 70, bytes.len() - 1];
    for end in (whole + 1..bytes.len()).filter(|end| !good.contains(end)) {
        let error = import_library(&bytes[..end].to_vec()).unwrap_err();
        assert!(matches!(error, PeError::Truncated { .. }), "{end}: {error}");
    }
    assert_eq!(import_library(&bytes).unwrap().unwrap().dlls, ["x.dll", "y.dll"]);
}

#[test]
fn names_the_member_that_a_long_import_exceeds() {
    let mut bytes = import_stub(Machine::X86_64, "x.dll", "x");
    bytes.extend(import_stub(Machine::X86_64, "y.dll", "y").split_off(8));
    let import = bytes.windows(4).rposition(|at| at == [0, 0, 0xff, 0xff]).unwrap();
    bytes[import + 12..][..4].copy_from_slice(&200_u32.to_le_bytes());
    let error = import_library(&bytes).unwrap_err().to_string();
    let (import_end, member_end) = (import + 20 + 200, bytes.len());
    assert_eq!(
        error,
        format!(
            "an import at {import:#x} ends at {import_end:#x}, but its member ends at {member_end:#x}"
        )
    );
}

#[test]
fn reads_or_refuses_changed_bytes() {
    let bytes = import_stub(Machine::X86_64, "x.dll", "x");
    for at in 0..bytes.len() {
        let _ = import_library(&bytes[..at].to_vec());
        for value in [0, 1, 0x7f, 0x80, 0xff, b'9'] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = import_library(&changed);
            let last = bytes.len().min(at + 4);
            changed[at..last].fill(value);
            let _ = import_library(&changed);
        }
    }
}
