//! One field that is another in the promoted packages.

/// A field that has the version, or the name of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The member that it is in; a member of an archive in the package follows `!`.
    pub member: String,
    /// Name of the field.
    pub field: String,
    /// Old value.
    pub from: String,
    /// New value; `None` for a field that is removed.
    pub to: Option<String>,
}

impl Change {
    /// A field that says something else.
    pub fn new(
        member: &str,
        field: impl Into<String>,
        from: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        let (field, from) = (field.into(), from.into());
        Self { member: member.to_owned(), field, from, to: Some(to.into()) }
    }

    /// A field that is removed.
    pub fn gone(member: &str, field: impl Into<String>, from: impl Into<String>) -> Self {
        let (field, from) = (field.into(), from.into());
        Self { member: member.to_owned(), field, from, to: None }
    }
}

/// The text of a member, with the changes in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changed {
    pub text: String,
    pub changes: Vec<Change>,
}
