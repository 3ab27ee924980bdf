//! Executable stacks, and the proof that no compiler's trampoline needs one.
//!
//! glibc 2.41 and later refuse to `dlopen` a library that asks for an executable stack, by the flag
//! or, where the ABI's default is executable, without the header (`DEFAULT_STACK_PERMS` of its
//! `stackinfo.h`). Linkers write the flag for code with nested functions, and for assembler sources
//! without `.note.GNU-stack`, which need none.

use object::elf::{self, ProgramFlags};
use serde::{Deserialize, Serialize};

use super::error::ElfError;
use super::header::{Segment, read_bytes};
use super::info::ElfInfo;
use crate::{Machine, ReadAt};

/// Request for an executable stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExecutableStack {
    /// `PT_GNU_STACK` has `PF_X`.
    Flag,
    /// `PT_GNU_STACK` is missing, and the ABI's default is executable.
    NoHeader,
}

/// Processors whose glibc makes stacks executable without `PT_GNU_STACK`.
const EXECUTABLE_BY_DEFAULT: [elf::Machine; 4] =
    [elf::EM_386, elf::EM_X86_64, elf::EM_ARM, elf::EM_S390];

/// `PT_GNU_STACK` without code.
const PLAIN: ProgramFlags = ProgramFlags(elf::PF_R.0 | elf::PF_W.0);

const WINDOW: u64 = 1 << 20;

impl ElfInfo {
    /// Returns whether the file asks for an executable stack, if a host loads it.
    pub fn executable_stack(&self) -> Option<ExecutableStack> {
        if !self.kind.runs_on_hosts() {
            return None;
        }
        let number = match self.machine {
            Machine::X86_64 => elf::EM_X86_64.0,
            Machine::Aarch64 => elf::EM_AARCH64.0,
            Machine::Other { number, .. } => number,
        };
        // glibc uses the last one.
        let header = self.segments.iter().rfind(|segment| segment.kind == elf::PT_GNU_STACK);
        match header {
            Some(header) => header.allows(elf::PF_X).then_some(ExecutableStack::Flag),
            None => EXECUTABLE_BY_DEFAULT
                .contains(&elf::Machine(number))
                .then_some(ExecutableStack::NoHeader),
        }
    }

    /// Returns the offset of the first trampoline of nested functions that code of the file writes
    /// to the stack: GCC's instructions, as constants in code or data.
    ///
    /// `None` proves that no code of GCC needs an executable stack. Code that a program generates
    /// itself and runs on its stack has no common form, and stays unproved.
    pub fn trampoline(&self, file: &(impl ReadAt + ?Sized)) -> Result<Option<u64>, ElfError> {
        for load in self.loads() {
            let (mut offset, end) = (load.offset, load.file_end());
            while offset < end {
                let size = WINDOW.min(end - offset);
                let bytes = read_bytes(file, self.file_len, offset, size, "the code")?;
                if let Some(inside) = self.trampoline_in(&bytes) {
                    return Ok(Some(offset + inside as u64));
                }
                // Windows overlap by the longest form.
                offset += if offset + size == end { size } else { size - LONGEST };
            }
        }
        Ok(None)
    }

    fn trampoline_in(&self, bytes: &[u8]) -> Option<usize> {
        match self.machine {
            Machine::X86_64 => {
                bytes.windows(X86_64_JUMP.len()).position(|window| window == X86_64_JUMP)
            }
            Machine::Aarch64 => bytes.windows(AARCH64_JUMP.len()).position(|window| {
                window[4..] == AARCH64_JUMP[4..]
                    && window[0] & 0x1f == AARCH64_JUMP[0]
                    && window[3] == AARCH64_JUMP[3]
            }),
            Machine::Other { .. } => None,
        }
    }
}

/// `rex.WB jmp *%r11; nop`, the end of GCC's trampoline on x86-64. Assemblers write the jump with
/// another prefix, so that code has these bytes only as a constant.
const X86_64_JUMP: [u8; 4] = [0x49, 0xff, 0xe3, 0x90];
/// `ldr x18, …; br x17` of GCC's trampoline on aarch64; the bits between are a distance.
const AARCH64_JUMP: [u8; 8] = [0x12, 0, 0, 0x58, 0x20, 0x02, 0x1f, 0xd6];
const LONGEST: u64 = 8;

impl Segment {
    pub(super) fn plain_stack() -> Self {
        Self {
            kind: elf::PT_GNU_STACK,
            flags: PLAIN,
            offset: 0,
            address: 0,
            physical: 0,
            file_size: 0,
            memory_size: 0,
            // As in GNU ld.
            align: 16,
        }
    }

    /// Returns the header without its flag, if it is `PT_GNU_STACK`.
    pub(super) fn without_executable_stack(&self) -> Self {
        let clears = self.kind == elf::PT_GNU_STACK;
        let flags = if clears { ProgramFlags(self.flags.0 & !elf::PF_X.0) } else { self.flags };
        Self { flags, ..self.clone() }
    }
}
