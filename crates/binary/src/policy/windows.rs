//! Platform tags of Windows, which depend only on the processor (PEP 425).

use crate::Machine;
use crate::pe::{PeFacts, PeKind};

/// Tag of `sysconfig.get_platform()`; `None` for drivers and processors without a Python.
pub fn windows_tag(facts: &PeFacts) -> Option<&'static str> {
    match facts.machine {
        _ if facts.kind == PeKind::Native => None,
        Machine::X86_64 => Some("win_amd64"),
        Machine::Aarch64 => Some("win_arm64"),
        Machine::Other { number: 0x14c, .. } => Some("win32"),
        Machine::Other { .. } => None,
    }
}
