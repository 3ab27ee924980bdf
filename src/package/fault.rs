//! What is wrong with a package, as reading it finds out.

use std::borrow::Cow;

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
    /// A comment, which nobody reads.
    Comment,
    /// No metadata directory, or several.
    MetadataDirectory,
    /// A member of the metadata that is not a text, or is too long.
    Text,
    /// A line that is no entry point.
    EntryPoint,
    /// A name that cannot be unpacked.
    Name,
    /// A link that leads out of the package.
    Link,
    /// Neither a file nor a directory nor a link.
    Kind,
    /// Permissions that no file should have.
    Mode,
    /// A name that two members have.
    Twice,
    /// Bytes that belong to nothing.
    Stray,
}

impl Fault {
    /// A fault of the whole package.
    pub fn new(kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, member: None, what: what.into(), detail: None }
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
