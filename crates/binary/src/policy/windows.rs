//! The platform tags of Windows, which say the processor and nothing else (PEP 425).

use crate::Machine;
use crate::pe::{PeFacts, PeKind};

/// The tag of wheels that have the file, as `sysconfig.get_platform()` of Python for Windows spells it;
/// none for drivers, and for processors without such a Python.
pub fn windows_tag(facts: &PeFacts) -> Option<&'static str> {
    match facts.machine {
        _ if facts.kind == PeKind::Native => None,
        Machine::X86_64 => Some("win_amd64"),
        Machine::Aarch64 => Some("win_arm64"),
        Machine::Other { number: 0x14c, .. } => Some("win32"),
        Machine::Other { .. } => None,
    }
}
