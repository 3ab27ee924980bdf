//! Faults found while a package is read.

use std::borrow::Cow;

use crate::unpacking::{MemberFault, Refusal};

/// Fault of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Member at fault, if any.
    pub member: Option<String>,
    /// Description without details of the member, so that reports can group equal faults.
    pub what: Cow<'static, str>,
    /// Detail of this member.
    pub detail: Option<String>,
}

/// Kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Unreadable archive.
    Broken,
    /// Zip feature that installers lack.
    Feature,
    /// Different headers of one member.
    Disagree,
    /// Different times or flags in the headers of one member, without effect on readers.
    HarmlessDifference,
    /// Ambiguous headers.
    Ambiguous,
    /// Useless archive comment.
    Comment,
    /// No metadata directory, or several.
    MetadataDirectory,
    /// Invalid or too long text.
    Text,
    /// Malformed line of `entry_points.txt`.
    EntryPoint,
    /// Name that cannot be unpacked.
    Name,
    /// Link out of the package, or hard link without a file.
    Link,
    /// Member below a file or link, or file in place of a directory.
    Nested,
    /// Special file, or link where none is permitted.
    SpecialFile,
    /// Unsafe permissions.
    Mode,
    /// Two members with one name.
    DuplicateName,
    /// Bytes outside all members.
    Stray,
}

impl From<MemberFault> for Fault {
    fn from(MemberFault { member, refusal }: MemberFault) -> Self {
        Self { detail: refusal.detail(), ..Self::new((&refusal).into(), refusal.message()) }
            .of(member)
    }
}

impl From<&Refusal> for FaultKind {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Name(_) => Self::Name,
            Refusal::Twice => Self::DuplicateName,
            Refusal::Below(_) | Refusal::Above => Self::Nested,
            Refusal::Outside(_) | Refusal::Circle(_) | Refusal::NoFile(_) | Refusal::Target(_) => {
                Self::Link
            }
            // A link in a wheel is a member of the wrong kind, as installers write it as a text file;
            // `Link` is for links where they are permitted, with an unsafe target.
            Refusal::Link | Refusal::Sparse | Refusal::Special => Self::SpecialFile,
            Refusal::Ambiguous(_) => Self::Ambiguous,
        }
    }
}

impl Fault {
    /// Creates a fault of the whole package.
    pub fn new(kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, member: None, what: what.into(), detail: None }
    }

    /// Reason to reject the package: readers would see different members, or unpack them outside
    /// the target.
    pub fn rejection_reason(&self) -> Option<String> {
        use FaultKind::{
            Ambiguous, Broken, DuplicateName, Link, MetadataDirectory, Name, Nested, SpecialFile,
        };
        let Self { kind, what, member, detail } = self;
        let is_rejected = match kind {
            Broken | Name | Link | Nested | SpecialFile | DuplicateName | Ambiguous => true,
            // `detail` lists the directories if there are several. Without one, the caller reports
            // missing metadata, and names the file.
            MetadataDirectory => detail.is_some(),
            _ => false,
        };
        if !is_rejected {
            return None;
        }
        let member = member.iter().map(|member| format!("`{}`: ", member.escape_debug()));
        let detail = detail.iter().map(|detail| format!(" ({detail})"));
        Some(member.chain([what.clone().into_owned()]).chain(detail).collect())
    }

    /// Sets the member at fault.
    #[must_use]
    pub fn of(self, member: impl Into<String>) -> Self {
        Self { member: Some(member.into()), ..self }
    }

    /// Sets the detail.
    #[must_use]
    pub fn because(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}
