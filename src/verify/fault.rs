//! What reading found, as findings.

use super::Finding;
use crate::archive::directory;
use crate::package::{Fault, FaultKind};
use crate::source::Code;

/// The rule for each fault that reading names.
impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        let code = match fault.kind {
            FaultKind::Broken => Code::BrokenPackage,
            FaultKind::Zip(kind) => zip(kind),
            FaultKind::MetadataDirectory => Code::MissingMetadata,
            FaultKind::Text => Code::MetadataField,
            FaultKind::EntryPoint => Code::EntryPoint,
            FaultKind::Name => Code::UnsafeName,
            FaultKind::Link => Code::LinkOutside,
            FaultKind::Kind => Code::MemberKind,
            FaultKind::Mode => Code::MemberMode,
            FaultKind::Twice => Code::MemberTwice,
            FaultKind::Stray => Code::StrayBytes,
        };
        // Nobody reads a comment.
        let comment = fault.kind == FaultKind::Zip(directory::FaultKind::Comment);
        let finding = if comment { Self::warning } else { Self::error }(code, fault.what);
        Self { member: fault.member, detail: fault.detail, ..finding }
    }
}

fn zip(kind: directory::FaultKind) -> Code {
    match kind {
        directory::FaultKind::Feature => Code::ZipFeature,
        directory::FaultKind::Twice => Code::MemberTwice,
        directory::FaultKind::Stray | directory::FaultKind::Comment => Code::StrayBytes,
        directory::FaultKind::Disagree => Code::HeadersDisagree,
    }
}
