//! Exec stubs: programs of a few KB that start another one relative to their own place.
//!
//! A wheel can't hold symlinks. Where an installation has `bin/clang → ../lib/llvm/bin/clang`,
//! the wheel gets a stub as `bin/clang`. It finds itself through `/proc/self/exe`, so it works
//! through `PATH`, a symlink or a relative call from anywhere, and replaces itself by the
//! target with `execve`: process id, `argv` with `argv[0]`, environment, working directory and
//! open descriptors stay what they are, and a target may be a stub again or a `#!` script.
//!
//! It needs no libc and no dynamic loader: a static executable with a fixed address, of raw
//! system calls. A hard link to it counts as a place of its own: the target is looked for
//! relative to the name that was executed.
//!
//! When it can't start the target it says so on standard error, naming `argv[0]`, the target's
//! absolute path and the reason, and exits as `env` does: 127 when there is no such program,
//! 126 when there is one that can't be started. `/proc` has to be mounted: `AT_EXECFN`, the
//! other way to learn the path, may be relative or name a symlink elsewhere, and then the
//! wrong program would be started.
//!
//! Unlike `execvp`, it doesn't give a script without `#!` to a shell.

use object::elf;

pub use super::write::StubMachine;
use super::write::{BUILD_ID, Image, READ_EXECUTE, Section, Segment};

/// Why there can be no stub for a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StubError {
    /// No target.
    #[error("cannot write an exec stub: its target is empty")]
    Empty,
    /// A path that doesn't depend on the stub's place.
    #[error("cannot write an exec stub for `{0}`: the target has to be relative to the stub")]
    Absolute(String),
    /// The kernel ends paths at a NUL.
    #[error("cannot write an exec stub for {0:?}: the target holds a NUL")]
    Nul(String),
    /// The path ends in `/`, `.` or `..`.
    #[error("cannot write an exec stub for `{0}`: the target names a directory")]
    Directory(String),
    /// Longer than the kernel takes.
    #[error("cannot write an exec stub: its target is {len} bytes long, more than {MAX_TARGET}")]
    TooLong {
        /// The target's length, in bytes.
        len: usize,
    },
}

/// The longest target, in bytes: `PATH_MAX` without the NUL. (The kernel's limit holds for the
/// whole path, so a target near it can't be started, and the stub then says so.)
pub const MAX_TARGET: usize = 4095;

/// The program that starts `target`, which is relative to the directory of the program itself
/// and `/`-separated (`../lib/llvm/bin/clang-22`).
///
/// The bytes are an executable for Linux and depend on nothing but the arguments.
///
/// # Errors
/// When `target` is empty, absolute, too long, holds a NUL or names a directory.
pub fn exec_stub(machine: StubMachine, target: &str) -> Result<Vec<u8>, StubError> {
    check(target)?;
    // The code ends where the target begins, so these two sections have to touch.
    let text = Section::new(".text", elf::SHT_PROGBITS, 16, code(machine).to_vec())
        .flag(elf::SHF_EXECINSTR);
    let target = Section::new(".rodata", elf::SHT_PROGBITS, 1, [target.as_bytes(), b"\0"].concat());
    let segments = vec![
        Segment::load_to(".rodata", READ_EXECUTE),
        Segment::of(elf::PT_NOTE, BUILD_ID, elf::PF_R),
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

/// The machine and target of a stub; `None` for any other bytes, those of another stub's code included.
pub fn stub_target(bytes: &[u8]) -> Option<(StubMachine, String)> {
    StubMachine::ALL.into_iter().find_map(|machine| {
        let code = code(machine);
        let at = bytes.windows(code.len()).position(|window| window == code)? + code.len();
        let target = bytes[at..].split(|byte| *byte == 0).next()?;
        let target = std::str::from_utf8(target).ok()?;
        exec_stub(machine, target)
            .is_ok_and(|made| made == bytes)
            .then(|| (machine, target.to_owned()))
    })
}

/// Where linkers put executables on both machines: a multiple of every page size, and far
/// above what `vm.mmap_min_addr` keeps free.
const BASE: u64 = 0x40_0000;

/// The assembled sources of `stub/*.s`: position-independent, the entry at offset 0.
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
    fn a_stub_tells_its_target() {
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
