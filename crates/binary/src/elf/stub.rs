//! Exec stubs: programs of a few KB that start another program at a relative path.
//!
//! Wheels cannot contain symlinks, so `bin/clang → ../lib/llvm/bin/clang` becomes a stub, which finds
//! itself through `/proc/self/exe` and calls `execve`. On failure, it exits like `env`, with 126 or
//! 127.

use object::elf;

pub use super::write::StubMachine;
use super::write::{BUILD_ID, Image, READ_EXECUTE, Section, Segment};

/// Reason why a target can have no stub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StubError {
    /// Empty target.
    #[error("cannot write an exec stub: its target is empty")]
    Empty,
    /// Absolute path.
    #[error("cannot write an exec stub for `{0}`: the target must be relative to the stub")]
    Absolute(String),
    /// Path with a NUL, which ends the target in the stub.
    #[error("cannot write an exec stub for {0:?}: the target has a NUL")]
    Nul(String),
    /// Path that ends in `/`, `.` or `..`.
    #[error("cannot write an exec stub for `{0}`: the target names a directory")]
    Directory(String),
    /// Too long path.
    #[error("cannot write an exec stub: its target has {len} bytes; the limit is {MAX_TARGET}")]
    TooLong {
        /// Length in bytes.
        len: usize,
    },
}

/// `PATH_MAX` without the NUL: the buffer of the stub has room for no more. The kernel has the same limit
/// for the whole path, so that a stub in a deep directory can fail with a shorter target.
pub const MAX_TARGET: usize = 4095;

/// Builds a program that starts `target`, relative to its own directory.
pub fn exec_stub(machine: StubMachine, target: &str) -> Result<Vec<u8>, StubError> {
    check(target)?;
    // The code expects the target directly after its end.
    let text = Section::new(".text", elf::SHT_PROGBITS, 16, code(machine).to_vec())
        .flag(elf::SHF_EXECINSTR);
    let target = Section::new(".rodata", elf::SHT_PROGBITS, 1, [target.as_bytes(), b"\0"].concat());
    let segments = vec![
        Segment::load_to(".rodata", READ_EXECUTE),
        Segment::in_section(elf::PT_NOTE, BUILD_ID, elf::PF_R),
        Segment::stack(),
    ];
    let image = Image::place(
        machine,
        elf::ET_EXEC,
        BASE,
        segments,
        vec![Section::build_id(), text, target],
    );
    let entry = image.address(".text");
    Ok(image.finish(entry))
}

/// Machine and target of a stub; `None` for other bytes, even if they differ from a stub only in one.
pub fn stub_target(bytes: &[u8]) -> Option<(StubMachine, String)> {
    StubMachine::ALL.into_iter().find_map(|machine| {
        let code = code(machine);
        let offset = bytes.windows(code.len()).position(|window| window == code)? + code.len();
        let target = bytes[offset..].split(|byte| *byte == 0).next()?;
        let target = std::str::from_utf8(target).ok()?;
        exec_stub(machine, target)
            .is_ok_and(|stub| stub == bytes)
            .then(|| (machine, target.to_owned()))
    })
}

/// Address used by linkers: a multiple of all page sizes, and above `vm.mmap_min_addr`.
const BASE: u64 = 0x40_0000;

/// Assembled `stub/*.s`: position-independent, entry at offset 0.
fn code(machine: StubMachine) -> &'static [u8] {
    match machine {
        StubMachine::X86_64 => include_bytes!("stub/x86_64.bin"),
        StubMachine::Aarch64 => include_bytes!("stub/aarch64.bin"),
    }
}

fn check(target: &str) -> Result<(), StubError> {
    let last = target.rsplit('/').next().unwrap_or_default();
    if target.is_empty() {
        Err(StubError::Empty)
    } else if target.contains('\0') {
        Err(StubError::Nul(target.to_owned()))
    } else if target.len() > MAX_TARGET {
        Err(StubError::TooLong { len: target.len() })
    } else if target.starts_with('/') {
        Err(StubError::Absolute(target.to_owned()))
    } else if matches!(last, "" | "." | "..") {
        Err(StubError::Directory(target.to_owned()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_target_of_stub() {
        for machine in StubMachine::ALL {
            let stub = exec_stub(machine, "../lib/a b").unwrap();
            assert_eq!(stub_target(&stub), Some((machine, "../lib/a b".to_owned())));
            let mut other = stub;
            other[0] ^= 1;
            assert_eq!(stub_target(&other), None);
        }
        assert_eq!(stub_target(b""), None);
    }
}
