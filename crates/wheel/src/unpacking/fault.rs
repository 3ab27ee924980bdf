use base::names::{RelPath, oversize};

/// Characters of a name in a message: hostile names can have megabytes.
const MOST_SHOWN: usize = 200;

/// Unsafe member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {refusal}", abbreviate(.member))]
pub struct MemberFault {
    /// Name, with non-UTF-8 bytes replaced.
    pub member: String,
    /// Reason.
    pub refusal: Refusal,
}

/// Reason to refuse a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Invalid name.
    Name(&'static str),
    /// Duplicate name.
    Twice,
    /// Path below this file or link.
    Below(String),
    /// File or link with other members below it.
    Above,
    /// Link to this target outside of the archive.
    Outside(String),
    /// Link to this target, which leads in a circle.
    Circle(String),
    /// Hard link to this target, which no earlier member is.
    NoFile(String),
    /// Link with an invalid target.
    Target(&'static str),
    /// Forbidden symlink.
    Link,
    /// Forbidden sparse file.
    Sparse,
    /// Device, pipe or similar.
    Special,
    /// Ambiguous headers.
    Ambiguous(&'static str),
}

impl Refusal {
    /// Description, the same for all members with this fault.
    pub fn message(&self) -> &'static str {
        match self {
            Self::Name(_) => "installers cannot unpack this name",
            Self::Twice => "there twice",
            Self::Below(_) => "path below a file or a link",
            Self::Above => "file or link with other members below it",
            Self::Outside(_) => "link that leads outside",
            Self::Circle(_) => "circular link",
            Self::NoFile(_) => "hard link without a preceding target",
            Self::Target(_) => "link to no file",
            Self::Link => "link, which installers turn into a text file",
            Self::Sparse => "sparse file, which installers unpack differently",
            Self::Special => "neither file nor directory nor link",
            Self::Ambiguous(_) => "ambiguous headers, which programs read differently",
        }
    }

    /// Detail of this member.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Name(reason) | Self::Target(reason) | Self::Ambiguous(reason) => {
                Some((*reason).to_owned())
            }
            Self::Below(path) | Self::Outside(path) | Self::Circle(path) | Self::NoFile(path) => {
                Some(format!("`{}`", abbreviate(path)))
            }
            Self::Twice | Self::Above | Self::Link | Self::Sparse | Self::Special => None,
        }
    }

    /// Creates the fault of the member `name`.
    pub fn of(self, name: impl Into<String>) -> MemberFault {
        MemberFault { member: name.into(), refusal: self }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message())?;
        self.detail().map_or(Ok(()), |detail| write!(f, " ({detail})"))
    }
}

/// Returns the fault of a name that leads outside, or that file systems or installers reject.
pub fn name_fault(name: &str) -> Option<Refusal> {
    let reason = match name.parse::<RelPath>() {
        Err(fault) => fault.reason,
        Ok(_) => oversize(name)?,
    };
    Some(Refusal::Name(reason))
}

fn abbreviate(name: &str) -> String {
    let mut start: String = name.chars().take(MOST_SHOWN).collect();
    if start.len() < name.len() {
        start.push('…');
    }
    start.escape_debug().to_string()
}
