use std::borrow::Cow;

use serde::Serialize;

use base::source::{Code, Severity};

/// Fault of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Code of the fault.
    #[serde(serialize_with = "code")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub code: Code,
    /// Error or warning, by the command (`SEVERITY`).
    #[serde(serialize_with = "severity")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub severity: Severity,
    /// File of the package, as given by the caller.
    pub file: String,
    /// Member, if any.
    pub member: Option<String>,
    /// Description, identical for equal faults.
    pub what: Cow<'static, str>,
    /// Detail of this member.
    pub detail: Option<String>,
    /// Target of a reference, such as an rpath directory.
    pub to: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn code<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn severity<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *severity == Severity::Error { "error" } else { "warning" })
}

impl Finding {
    /// Creates an error, unless the table of the command lowers it; [`Finding::within`] sets the file.
    pub fn error(code: Code, what: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            file: String::new(),
            member: None,
            what: what.into(),
            detail: None,
            to: None,
        }
    }

    /// Creates a warning: the evidence is doubtful, or users lose nothing.
    pub fn warning(code: Code, what: impl Into<Cow<'static, str>>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, what) }
    }

    /// Sets the member.
    #[must_use]
    pub fn of(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Sets the detail.
    #[must_use]
    pub fn because(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Sets the target.
    #[must_use]
    pub fn to(mut self, target: impl Into<String>) -> Self {
        self.to = Some(target.into());
        self
    }

    /// Sets the file.
    #[must_use]
    pub fn within(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }
}
