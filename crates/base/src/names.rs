//! Names, validated once at the boundary.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The text is shared, because a plan repeats a name for each file.
macro_rules! text_conversions {
    ($name:ident, $error:ty) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

mod compression;
mod family;
mod folded;
mod form;
pub mod offload;
mod path;
mod platform;
mod requirement;
mod target_names;
pub mod windows;

pub use compression::Compression;
pub use family::{Family, Isa, without_features};
pub use folded::{LETTER_FORMS, Lookalikes, folded};
pub use form::Form;
pub use path::{PathError, RelPath, has_unseen, oversize};
pub use platform::{LibcTag, PlatformTagError, PlatformTags, is_tag_level};
pub use requirement::{NoRequirement, Requirement};
pub use target_names::TargetNames;

/// Rejected name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}: {reason}")]
pub struct NameError {
    /// Expected kind, with an article ("a distribution name").
    pub kind: &'static str,
    /// Given text.
    pub text: String,
    pub reason: &'static str,
}

impl NameError {
    /// Creates an error.
    pub fn new(kind: &'static str, text: &str, reason: &'static str) -> Self {
        Self { kind, text: text.to_owned(), reason }
    }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        #[cfg_attr(
            feature = "schemas",
            derive(schemars::JsonSchema),
            schemars(extend("pattern" = $pattern))
        )]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                let check: fn(&str) -> Option<&'static str> = $check;
                match check(text) {
                    Some(reason) => Err(NameError::new($kind, text, reason)),
                    None => Ok(Self(text.into())),
                }
            }
        }

        text_conversions!($name, NameError);
    };
}

name_type!(
    /// Name of a package in the manifest (`core`).
    PackageName, "a package name", r"^[a-z0-9-]+$", |text| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (text.is_empty() || !text.chars().all(fine))
            .then_some("use lower-case letters, digits and `-`")
    }
);

name_type!(
    /// Name of a build artifact: the first field of an artifact directory's name.
    ArtifactName, "an artifact name", r"^[A-Za-z0-9.+-]+$", |text| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '+');
        (text.is_empty() || !text.chars().all(fine))
            .then_some("use letters, digits, `-`, `.` and `+`; `_` separates fields")
    }
);

name_type!(
    /// Name of a distribution in an index (PEP 508; `rocm-sdk-core`).
    DistName, "a distribution name", r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", |text| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if !edge(text.chars().next()) || !edge(text.chars().next_back()) {
            Some("start and end it with a letter or digit")
        } else if !text.chars().all(fine) {
            Some("use letters, digits, `-`, `_` and `.`")
        } else {
            None
        }
    }
);

name_type!(
    /// Importable Python name: an identifier without dots.
    ModuleName, "a Python module name", r"^[A-Za-z_][A-Za-z0-9_]*$", |text| {
        let head = |c: char| c.is_ascii_alphabetic() || c == '_';
        let fine = |c: char| head(c) || c.is_ascii_digit();
        (!text.chars().next().is_some_and(head) || !text.chars().all(fine))
            .then_some("use letters, digits and `_`, not a digit first")
    }
);

name_type!(
    /// Label of a wheel variant, the last part of its file name (PEP 825).
    VariantLabel, "a label of a wheel variant", r"^[0-9a-z_.]+$", |text| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
        (text.is_empty() || !text.chars().all(fine))
            .then_some("use lower-case letters, digits, `_` and `.`")
    }
);

/// Normalizes a distribution or extra (PEP 503); `None` if invalid.
pub fn normalized(text: &str) -> Option<String> {
    text.parse::<DistName>().ok().map(|name| name.normalized())
}

impl DistName {
    /// Returns the name for file names: each run of `-`, `_` and `.` becomes `_`, in lower case
    /// (binary distribution format, "Escaping and Unicode").
    pub fn file_stem(&self) -> String {
        self.normalized().replace('-', "_")
    }

    /// Normalizes the name (PEP 503): each run of `-`, `_` and `.` becomes `-`, in lower case.
    pub fn normalized(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            if !matches!(c, '-' | '_' | '.') {
                out.push(c.to_ascii_lowercase());
            } else if !out.ends_with('-') {
                out.push('-');
            }
        }
        out
    }

    /// Returns the platform directory: `_`, the name with `_` for `-` and `.`, the suffix.
    pub fn platform_dir(&self, suffix: &str) -> Result<ModuleName, NameError> {
        format!("_{}{suffix}", self.0.replace(['-', '.'], "_")).parse()
    }
}

/// Component of an artifact: part of a project's installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Shared libraries and their data.
    Lib,
    /// Programs.
    Run,
    /// Headers, static libraries, CMake packages.
    Dev,
    /// Separate debug information.
    Dbg,
    /// Documentation.
    Doc,
    /// Tests.
    Test,
}

impl Component {
    /// All components.
    pub const ALL: [Self; 6] = [Self::Lib, Self::Run, Self::Dev, Self::Dbg, Self::Doc, Self::Test];

    /// Name in directory names and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Run => "run",
            Self::Dev => "dev",
            Self::Dbg => "dbg",
            Self::Doc => "doc",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Component {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let component = Self::ALL.into_iter().find(|c| c.as_str() == text);
        component.ok_or_else(|| {
            NameError::new(
                "a component",
                text,
                "the components are lib, run, dev, dbg, doc and \
                test",
            )
        })
    }
}

/// Placement of device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Device code is removed from libraries and packed per ISA.
    Kpack,
    /// Libraries contain the device code of one family.
    Legacy,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Kpack, Self::Legacy];

    /// Name in manifests and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kpack => "kpack",
            Self::Legacy => "legacy",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mode = Self::ALL.into_iter().find(|m| m.as_str() == text);
        mode.ok_or_else(|| NameError::new("a mode", text, "the modes are kpack and legacy"))
    }
}

/// Operating system of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// `sys_platform == "linux"`.
    Linux,
    /// `sys_platform == "win32"`.
    Windows,
}

impl System {
    /// All systems.
    pub const ALL: [Self; 2] = [Self::Linux, Self::Windows];

    /// Name in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "windows",
        }
    }

    /// Python's `sys.platform` (PEP 508).
    pub fn sys_platform(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "win32",
        }
    }
}

impl FromStr for System {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let system = Self::ALL.into_iter().find(|s| s.as_str() == text);
        system.ok_or_else(|| NameError::new("a system", text, "the systems are linux and windows"))
    }
}
