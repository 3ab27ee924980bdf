//! Field that differs in the promoted packages.

/// Change of a field with the version or a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Member; a path in a nested archive follows `!`.
    pub member: String,
    /// Field.
    pub field: String,
    /// Old value.
    pub from: String,
    /// New value; `None` if removed.
    pub to: Option<String>,
}

impl Change {
    /// A changed field.
    pub fn new(
        member: &str,
        field: impl Into<String>,
        from: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        let (field, from) = (field.into(), from.into());
        Self { member: member.to_owned(), field, from, to: Some(to.into()) }
    }

    /// A removed field.
    pub fn removal(member: &str, field: impl Into<String>, from: impl Into<String>) -> Self {
        let (field, from) = (field.into(), from.into());
        Self { member: member.to_owned(), field, from, to: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changed {
    pub text: String,
    pub changes: Vec<Change>,
}
