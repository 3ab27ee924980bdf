//! Names, parsed once at the edge and carried as types.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What every newtype over a text has: it is read through `FromStr`, and shown as it is. The
/// text is shared: a plan names an artifact once for each of its files.
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

pub use compression::Compression;
pub use family::{Family, Isa, without_features};
pub use folded::{Lookalikes, folded};
pub use form::Form;
pub use path::{PathError, RelPath, oversize};
pub use platform::{PlatformTagError, PlatformTags, is_tag_level};
pub use requirement::{NoRequirement, Requirement};
pub use target_names::TargetNames;

/// A name that is not of its kind: says what was wrong with which text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}: {reason}")]
pub struct NameError {
    /// What it should have been, with its article ("a distribution name").
    pub kind: &'static str,
    /// The text as it was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl NameError {
    /// Wraps a text that is known to be such a name.
    pub fn new(kind: &'static str, text: &str, reason: &'static str) -> Self {
        Self { kind, text: text.to_owned(), reason }
    }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = $pattern)))]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
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
    /// A package as the manifest calls it (`core`), whatever its distribution is called.
    PackageName, "a package name", r"^[a-z0-9-]+$", |text| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (text.is_empty() || !text.chars().all(fine)).then_some("use lower-case letters, digits and `-`")
    }
);

name_type!(
    /// The name of a build artifact: the first field of an artifact directory's name.
    ArtifactName, "an artifact name", r"^[A-Za-z0-9.+-]+$", |text| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '+');
        (text.is_empty() || !text.chars().all(fine)).then_some("use letters, digits, `-`, `.` and `+`; `_` separates fields")
    }
);

name_type!(
    /// A distribution's name as an index shows it (PEP 508; `rocm-sdk-core`).
    DistName, "a distribution name", r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", |text| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if !edge(text.chars().next()) || !edge(text.chars().next_back()) {
            Some("it has to start and end with a letter or digit")
        } else if !text.chars().all(fine) {
            Some("use letters, digits, `-`, `_` and `.`")
        } else {
            None
        }
    }
);

name_type!(
    /// An importable Python name: an identifier without dots.
    ModuleName, "a Python module name", r"^[A-Za-z_][A-Za-z0-9_]*$", |text| {
        let head = |c: char| c.is_ascii_alphabetic() || c == '_';
        let fine = |c: char| head(c) || c.is_ascii_digit();
        if text.chars().next().is_some_and(head) && text.chars().all(fine) { None } else { Some("use letters, digits and `_`, not a digit first") }
    }
);

name_type!(
    /// The label of a wheel variant, the last part of its file name (PEP 825).
    VariantLabel, "a label of a wheel variant", r"^[0-9a-z_.]+$", |text| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
        (text.is_empty() || !text.chars().all(fine)).then_some("use lower-case letters, digits, `_` and `.`")
    }
);

/// A distribution's or an extra's name as indexes compare it (PEP 503), if it is one.
pub fn normalized(text: &str) -> Option<String> {
    text.parse::<DistName>().ok().map(|name| name.normalized())
}

impl DistName {
    /// The name as it stands in the file names of wheels and sdists: runs of `-`, `_` and
    /// `.` become one `_`, in lower case (binary distribution format, "Escaping and Unicode").
    pub fn file_stem(&self) -> String {
        self.normalized().replace('-', "_")
    }

    /// The name as indexes compare it (PEP 503): runs of `-`, `_` and `.` become one `-`, in lower case.
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

    /// The platform directory of this distribution: `_`, the name with `-` as `_`, the suffix.
    ///
    /// # Errors
    /// When the result is not an importable name.
    pub fn platform_dir(&self, suffix: &str) -> Result<ModuleName, NameError> {
        format!("_{}{suffix}", self.0.replace(['-', '.'], "_")).parse()
    }
}

/// A part of an artifact: what of a project's installation it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// Shared libraries and the data they read.
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
    /// Every component, in the order in which people list them.
    pub const ALL: [Self; 6] = [Self::Lib, Self::Run, Self::Dev, Self::Dbg, Self::Doc, Self::Test];

    /// The component as it stands in directory names and manifests.
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
        let known = Self::ALL.into_iter().find(|c| c.as_str() == text);
        known.ok_or_else(|| {
            NameError::new("a component", text, "components are lib, run, dev, dbg, doc and test")
        })
    }
}

/// How a build splits device code from host code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Device code is cut out of the libraries and packed per ISA.
    Kpack,
    /// Libraries hold the device code of one family each.
    Legacy,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Kpack, Self::Legacy];

    /// The mode as manifests and the command line spell it.
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
        let known = Self::ALL.into_iter().find(|m| m.as_str() == text);
        known.ok_or_else(|| NameError::new("a mode", text, "modes are kpack and legacy"))
    }
}

/// The operating system that packages are for.
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
    /// Both systems.
    pub const ALL: [Self; 2] = [Self::Linux, Self::Windows];

    /// The system as manifests spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "windows",
        }
    }

    /// The value of Python's `sys.platform`, as environment markers compare it (PEP 508).
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
        let known = Self::ALL.into_iter().find(|s| s.as_str() == text);
        known.ok_or_else(|| NameError::new("a system", text, "systems are linux and windows"))
    }
}
