use crate::Finding;
use base::source::Code;
use wheel::package::{Fault, FaultKind};

impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        let code = match fault.kind {
            FaultKind::Broken => Code::BrokenPackage,
            FaultKind::Feature => Code::ZipFeature,
            FaultKind::Disagree | FaultKind::Idle | FaultKind::Ambiguous => Code::HeadersDisagree,
            FaultKind::MetadataDirectory => Code::MissingMetadata,
            FaultKind::Text => Code::MetadataField,
            FaultKind::EntryPoint => Code::EntryPoint,
            FaultKind::Name => Code::UnsafeName,
            FaultKind::Link => Code::LinkOutside,
            FaultKind::Below => Code::FileAndDirectory,
            FaultKind::Kind => Code::MemberKind,
            FaultKind::Mode => Code::MemberMode,
            FaultKind::Twice => Code::MemberTwice,
            FaultKind::Stray | FaultKind::Comment => Code::StrayBytes,
        };
        let finding = match fault.kind {
            FaultKind::Comment | FaultKind::Idle => Self::warning(code, fault.what),
            _ => Self::error(code, fault.what),
        };
        Self { member: fault.member, detail: fault.detail, ..finding }
    }
}
