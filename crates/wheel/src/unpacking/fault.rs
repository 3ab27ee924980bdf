//! Refusals of members, and their words.

use base::names::{RelPath, oversize};

/// Number of characters that a message shows of a name.
const SHOWN: usize = 200;

/// A member that no reader may take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {refusal}", shown(.member))]
pub struct MemberFault {
    /// Its name; bytes that are not UTF-8 are replaced.
    pub member: String,
    /// The reason.
    pub refusal: Refusal,
}

/// The reason why a member is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A name that leads outside or that no file system takes.
    Name(&'static str),
    /// A second member of one name.
    Twice,
    /// A member below this one, which is a file or a link.
    Below(String),
    /// A file or a link in the place of a directory of other members.
    Above,
    /// A link out of the archive; its target.
    Outside(String),
    /// A link that leads back to itself; its target.
    Circle(String),
    /// A hard link to no file before it; its target.
    NoFile(String),
    /// A link whose target cannot be a path.
    Target(&'static str),
    /// A symbolic link in an archive that cannot have any.
    Link,
    /// A sparse file in an archive that may not have any.
    Sparse,
    /// A device, a pipe or the like.
    Special,
    /// Headers from which readers make different members.
    Ambiguous(&'static str),
}

impl Refusal {
    /// The fault, in the same words for all members that have it.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Name(_) => "its name cannot be unpacked",
            Self::Twice => "there twice",
            Self::Below(_) => "it is below a file or a link",
            Self::Above => "a file or a link, with other members below it",
            Self::Outside(_) => "a link that leads outside",
            Self::Circle(_) => "a link that leads in a circle",
            Self::NoFile(_) => "a hard link to no file before it",
            Self::Target(_) => "a link that leads nowhere",
            Self::Link => "a link, which installers make a text file",
            Self::Sparse => "a sparse file, which installers unpack differently",
            Self::Special => "neither a file nor a directory nor a link",
            Self::Ambiguous(_) => "its headers are read differently by different programs",
        }
    }

    /// The particular of this member.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Name(reason) | Self::Target(reason) | Self::Ambiguous(reason) => {
                Some((*reason).to_owned())
            }
            Self::Below(path) | Self::Outside(path) | Self::Circle(path) | Self::NoFile(path) => {
                Some(format!("`{}`", shown(path)))
            }
            Self::Twice | Self::Above | Self::Link | Self::Sparse | Self::Special => None,
        }
    }

    /// The fault of the member `name`.
    pub fn of(self, name: impl Into<String>) -> MemberFault {
        MemberFault { member: name.into(), refusal: self }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what())?;
        self.detail().map_or(Ok(()), |detail| write!(f, " ({detail})"))
    }
}

/// The fault of a member's name: it leads outside, or no file system or installer takes it.
pub fn name_fault(name: &str) -> Option<Refusal> {
    let reason = match name.parse::<RelPath>() {
        Err(fault) => fault.reason,
        Ok(_) => oversize(name)?,
    };
    Some(Refusal::Name(reason))
}

/// The start of a name, without control characters.
fn shown(name: &str) -> String {
    let mut start: String = name.chars().take(SHOWN).collect();
    if start.len() < name.len() {
        start.push('…');
    }
    start.escape_debug().to_string()
}
