//! What is wrong with a package, as reading it finds out.

use std::borrow::Cow;

use crate::unpacking::{MemberFault, Refusal};

/// Something that is wrong with a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing it is.
    pub kind: FaultKind,
    /// The member at fault, where one is.
    pub member: Option<String>,
    /// What is wrong; the same words for all members that are at fault alike.
    pub what: Cow<'static, str>,
    /// What is particular to this member.
    pub detail: Option<String>,
}

/// What a [`Fault`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// An archive that cannot be read.
    Broken,
    /// A feature of zip that installers do not know.
    Feature,
    /// Two headers that say different things of one member.
    Disagree,
    /// Headers from which programs read different members.
    Ambiguous,
    /// A comment, which nobody reads.
    Comment,
    /// No metadata directory, or several.
    MetadataDirectory,
    /// A member of the metadata that is not a text, or is too long.
    Text,
    /// A malformed line of `entry_points.txt`.
    EntryPoint,
    /// A name that cannot be unpacked.
    Name,
    /// A link that leads out of the package, or a hard link to no file of it.
    Link,
    /// A member below a file or a link.
    Below,
    /// Neither a file nor a directory nor a link.
    Kind,
    /// Permissions that no file should have.
    Mode,
    /// A name that two members have.
    Twice,
    /// Bytes that belong to nothing.
    Stray,
}

/// The rule for members of archives, as a fault of a package.
impl From<MemberFault> for Fault {
    fn from(MemberFault { member, refusal }: MemberFault) -> Self {
        Self { detail: refusal.detail(), ..Self::new((&refusal).into(), refusal.what()) }.of(member)
    }
}

impl From<&Refusal> for FaultKind {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Name(_) => Self::Name,
            Refusal::Twice => Self::Twice,
            Refusal::Below(_) | Refusal::Above => Self::Below,
            Refusal::Outside(_) | Refusal::Circle(_) | Refusal::NoFile(_) | Refusal::Target(_) => {
                Self::Link
            }
            Refusal::Link | Refusal::Sparse | Refusal::Special => Self::Kind,
            Refusal::Ambiguous(_) => Self::Ambiguous,
        }
    }
}

impl Fault {
    /// A fault of the whole package.
    pub fn new(kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, member: None, what: what.into(), detail: None }
    }

    /// The reason not to read a package with this fault, if it is one: readers would take other members than others,
    /// or put some of them outside.
    pub fn refusal(&self) -> Option<String> {
        use FaultKind::{Ambiguous, Below, Broken, Kind, Link, MetadataDirectory, Name, Twice};
        let Self { kind, what, member, detail } = self;
        let refused = match kind {
            Broken | Name | Link | Below | Kind | Twice | Ambiguous => true,
            // Without any, the metadata is found to be missing.
            MetadataDirectory => detail.is_some(),
            _ => false,
        };
        if !refused {
            return None;
        }
        let member = member.iter().map(|member| format!("`{}`: ", member.escape_debug()));
        let detail = detail.iter().map(|detail| format!(" ({detail})"));
        Some(member.chain([what.clone().into_owned()]).chain(detail).collect())
    }

    /// The same of one member.
    #[must_use]
    pub fn of(self, member: impl Into<String>) -> Self {
        Self { member: Some(member.into()), ..self }
    }

    /// With what is particular to it.
    #[must_use]
    pub fn because(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}
