use crate::Finding;
use base::source::Code;
use wheel::package::{Fault, FaultKind};

impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        let code = match fault.kind {
            FaultKind::Broken => Code::BrokenPackage,
            FaultKind::Feature => Code::ZipFeature,
            FaultKind::Disagree | FaultKind::HarmlessDifference | FaultKind::Ambiguous => {
                Code::HeadersDisagree
            }
            FaultKind::MetadataDirectory => Code::MissingMetadata,
            FaultKind::Text => Code::MetadataField,
            FaultKind::EntryPoint => Code::EntryPoint,
            FaultKind::Name => Code::UnsafeName,
            FaultKind::Link => Code::LinkOutside,
            FaultKind::Nested => Code::FileAndDirectory,
            FaultKind::SpecialFile => Code::MemberKind,
            FaultKind::Mode => Code::MemberMode,
            FaultKind::DuplicateName => Code::MemberTwice,
            FaultKind::Stray | FaultKind::Comment => Code::StrayBytes,
        };
        let finding = match fault.kind {
            FaultKind::Comment | FaultKind::HarmlessDifference => Self::warning(code, fault.what),
            _ => Self::error(code, fault.what),
        };
        Self { member: fault.member, detail: fault.detail, ..finding }
    }
}
