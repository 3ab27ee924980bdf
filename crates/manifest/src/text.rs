//! Words of a fixed choice, and names with rules.

use std::borrow::Cow;
use std::str::FromStr;

use crate::Glob;
use crate::finding::OF_LINES;
use crate::glob::GlobError;
use crate::reader::{Reason, either};
use crate::template::TemplateError;
use base::names::{ModuleName, RelPath, is_tag_level};
use base::source::{Code, nearest};
use base::target::Per;

/// Source of platform tags without a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagSource {
    /// Computed from the files of each wheel.
    EachWheel,
    /// Computed from the files of all wheels.
    AllWheels,
}

#[derive(Debug)]
pub struct ChoiceError {
    kind: &'static str,
    text: String,
    words: Vec<&'static str>,
}

impl Reason for ChoiceError {
    fn message(&self) -> String {
        format!("`{}` is not {}", self.text, self.kind)
    }

    fn label(&self) -> String {
        match nearest(&self.text, self.words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "unknown keyword".to_owned(),
        }
    }

    fn help(&self) -> Option<String> {
        Some(format!("write {}", either(self.words.iter().copied())))
    }
}

pub(crate) trait Choice: Copy + PartialEq + 'static {
    const KIND: &'static str;
    const WORDS: &'static [(&'static str, Self)];

    fn choose(text: &str) -> Result<Self, ChoiceError> {
        let choice = Self::WORDS.iter().find(|(word, _)| *word == text);
        choice.map(|(_, value)| *value).ok_or_else(|| ChoiceError {
            kind: Self::KIND,
            text: text.to_owned(),
            words: Self::WORDS.iter().map(|(word, _)| *word).collect(),
        })
    }
}

macro_rules! choice {
    ($type:ident, $kind:literal, $($word:expr => $value:ident),+) => {
        impl $crate::text::Choice for $type {
            const KIND: &'static str = $kind;
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$value)),+];
        }

        impl std::str::FromStr for $type {
            type Err = $crate::text::ChoiceError;

            fn from_str(text: &str) -> Result<Self, $crate::text::ChoiceError> {
                $crate::text::Choice::choose(text)
            }
        }
    };
}

pub(crate) use choice;

/// `offer` of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Every {
    /// Every distribution.
    All,
}

choice!(Every, "an offer of several", "all" => All);
choice!(TagSource, "a source of a platform tag", "auto" => EachWheel, "common" => AllWheels);

pub(crate) struct FindingName(pub Code);

fn plan_findings() -> impl Iterator<Item = &'static Code> {
    Code::OF_PLANS.iter().chain(&OF_LINES).chain(Code::OF_DIFFS)
}

fn known_findings() -> impl Iterator<Item = &'static Code> {
    Code::OF_PACKAGES.iter().chain(plan_findings())
}

#[derive(Debug)]
pub(crate) struct FindingNameError(String);

impl FromStr for FindingName {
    type Err = FindingNameError;

    fn from_str(text: &str) -> Result<Self, FindingNameError> {
        let finding = known_findings().find(|code| code.as_str() == text);
        finding.map(|code| Self(*code)).ok_or_else(|| FindingNameError(text.to_owned()))
    }
}

impl Reason for FindingNameError {
    fn message(&self) -> String {
        format!("`{}` is not the code of an ignorable finding", self.0)
    }

    fn label(&self) -> String {
        match nearest(&self.0, known_findings().map(|code| code.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "unknown code".to_owned(),
        }
    }

    fn help(&self) -> Option<String> {
        let plans = either(plan_findings().map(|code| code.as_str()));
        Some(format!("use a code of `rockpack wheel verify`, or for plans and differences {plans}"))
    }
}

impl Reason for TemplateError {
    fn message(&self) -> String {
        self.to_string()
    }

    fn label(&self) -> String {
        match nearest(&self.placeholder, ["isa", "family"]) {
            Some(near) => format!("did you mean `{{{near}}}`?"),
            None => "no value for it here".to_owned(),
        }
    }

    fn help(&self) -> Option<String> {
        Some("placeholders are `{isa}` and `{family}`".to_owned())
    }
}

impl Reason for GlobError {
    fn message(&self) -> String {
        format!("`{}` is not a glob over installed paths", self.text)
    }

    fn label(&self) -> String {
        self.reason.clone()
    }

    fn help(&self) -> Option<String> {
        self.remedy.clone()
    }
}

#[derive(Debug)]
pub(crate) struct TextError {
    message: String,
    label: Cow<'static, str>,
    help: Option<&'static str>,
}

impl TextError {
    pub(crate) fn new(message: String, label: impl Into<Cow<'static, str>>) -> Self {
        Self { message, label: label.into(), help: None }
    }
}

impl Reason for TextError {
    fn message(&self) -> String {
        self.message.clone()
    }

    fn label(&self) -> String {
        self.label.to_string()
    }

    fn help(&self) -> Option<String> {
        self.help.map(str::to_owned)
    }
}

pub(crate) fn refuse<T>(message: String, label: &'static str) -> Result<T, TextError> {
    Err(TextError::new(message, label))
}

macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $is_valid:expr, $fault:literal, $label:literal) => {
        $(#[$doc])*
        pub(crate) struct $name(pub String);

        impl std::str::FromStr for $name {
            type Err = $crate::text::TextError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let is_valid: fn(&str) -> bool = $is_valid;
                if is_valid(text) {
                    return Ok(Self(text.to_owned()));
                }
                $crate::text::refuse(format!(concat!("`{}` ", $fault), text), $label)
            }
        }
    };
}

pub(crate) use checked_text;

checked_text!(
    WebAddress,
    |text: &str| {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty() && !text.contains(char::is_whitespace))
    },
    "is not a web address",
    "begin with https:// or http://, without spaces"
);

checked_text!(
    /// The name of an axis, other than the built-in splits.
    AxisName,
    |text: &str| {
        let is_word = !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
        is_word && !Per::WORDS.contains(&text)
    },
    "is not an axis name",
    "use lower-case letters, but not none, family or isa"
);

checked_text!(
    /// The name of an environment variable (POSIX: letters, digits and `_`, no digit first).
    Variable,
    |text: &str| text.parse::<ModuleName>().is_ok(),
    "is not an environment variable name",
    "use letters, digits and `_`; do not begin with a digit"
);

checked_text!(
    Device,
    |text: &str| text.starts_with('/') && !text.contains('\0'),
    "is not an absolute path",
    "begin with `/`"
);

checked_text!(
    DriverVersion,
    |text: &str| {
        let is_number = |part: &str| part.parse::<u32>().is_ok();
        text.split('.').all(is_number)
    },
    "is not a version of a driver",
    "write numbers with dots"
);

checked_text!(
    /// A library in a selection: `^` before it leaves it out, `*` is all.
    LibrarySelection,
    |text: &str| {
        text == "*" || text.strip_prefix('^').unwrap_or(text).parse::<ShortName>().is_ok()
    },
    "is not a library name",
    "write a name, `^` and a name, or `*`; write several names as several arguments"
);

checked_text!(
    ShortName,
    |text: &str| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        text.chars().all(fine) && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    },
    "is not a name",
    "use letters, digits, `-`, `_`, `.` and `+`; begin with a letter, a digit or `_`"
);

/// A PEP 440 version specifier, in its author's own spelling.
pub(crate) struct Specifier(pub String);

/// The runtime's sources in every package need this minor release of Python 3.
const OLDEST_PYTHON: u64 = 10;

/// Releases of Python 3 count up to 3.29 with 30 patches each, and named versions.
fn is_for_some_python(specifiers: &pep440_rs::VersionSpecifiers) -> bool {
    let versions = specifiers.iter().map(|specifier| specifier.version().clone());
    let versions = versions.filter(|version| version.release().starts_with(&[3]));
    let minors = OLDEST_PYTHON..30;
    let versions = versions
        .filter(|version| version.release().get(1).is_none_or(|minor| minors.contains(minor)));
    let releases = minors.clone().flat_map(|minor| (0..30).map(move |patch| [3, minor, patch]));
    let releases = releases.map(pep440_rs::Version::new);
    releases.chain(versions).any(|version| specifiers.contains(&version))
}

impl FromStr for Specifier {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Ok(specifiers) = pep440_rs::VersionSpecifiers::from_str(text) {
            if is_for_some_python(&specifiers) {
                return Ok(Self(text.to_owned()));
            }
            return Err(TextError {
                message: format!("no version of Python from 3.{OLDEST_PYTHON} satisfies `{text}`"),
                label: "the Python sources of the packages need it".into(),
                help: Some("write it like \">=3.10\" or \">=3.10, <3.14\""),
            });
        }
        let message = format!("`{text}` is not a version specifier (PEP 440)");
        let bare = pep440_rs::Version::from_str(text).is_ok();
        let label = if bare {
            "a comparison is missing before the version"
        } else {
            "expected a comparison and a version"
        };
        Err(TextError {
            message,
            label: label.into(),
            help: Some("write it like \">=3.10\" or \">=3.10, <3.14\""),
        })
    }
}

/// A platform tag without its architecture (PEP 600, PEP 656).
pub(crate) struct TagLevel(pub String);

impl FromStr for TagLevel {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if is_tag_level(text) {
            return Ok(Self(text.to_owned()));
        }
        let architecture = ["_x86_64", "_aarch64"].iter().any(|end| text.ends_with(end));
        let label =
            if architecture { "remove the architecture" } else { "write it like `manylinux_2_28`" };
        refuse(format!("`{text}` is not a level of systems"), label)
    }
}

/// The installed path of a library without a version: `lib/libx.so`.
pub(crate) struct AliasPath(pub RelPath);

impl FromStr for AliasPath {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let message = || format!("`{text}` is not a path for an alias");
        let Ok(path) = text.parse::<RelPath>() else {
            return refuse(
                message(),
                "write a path below the installation, with `/`, without `..`",
            );
        };
        let stem = path.file_name().strip_suffix(".so").and_then(|name| name.strip_prefix("lib"));
        if path.depth() == 0 {
            return refuse(message(), "add the directory: `lib/libNAME.so`");
        }
        if stem.is_none_or(|stem| stem.is_empty() || stem.contains(['*', '?'])) {
            return refuse(message(), "the last segment must be `libNAME.so`, without a version");
        }
        Ok(Self(path))
    }
}

/// A library's path for the runtime, with `*` in the last segment.
pub(crate) struct LibraryPath(pub String);

/// Returns whether a glob over names of libraries has nothing of a name: `lib*.so*`.
pub(crate) fn matches_any_library(glob: &str) -> bool {
    let lower = glob.to_ascii_lowercase();
    let stem = lower.strip_prefix("lib").unwrap_or(&lower);
    let ends = [".so", ".dll", ".drv"].into_iter().filter_map(|end| stem.find(end));
    let stem = &stem[..ends.min().unwrap_or(stem.len())];
    stem.contains('*') && !stem.contains(|c: char| c.is_ascii_alphanumeric())
}

impl FromStr for LibraryPath {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let message = || format!("`{text}` is not the path of a library");
        let Ok(path) = text.parse::<RelPath>() else {
            return refuse(
                message(),
                "write a path relative to the platform directory, without `..`",
            );
        };
        if path.parent().is_some_and(|p| p.as_str().contains('*')) {
            return refuse(message(), "`*` is allowed only in the last segment");
        }
        if text.contains(['?', '[', ']', '{', '}']) || text.contains("**") {
            return refuse(message(), "the only wildcard here is `*`");
        }
        if text.parse::<Glob>().is_err() {
            return refuse(message(), "it is longer than the limit of globs");
        }
        if matches_any_library(text.rsplit('/').next().unwrap_or(text)) {
            return refuse(message(), "it matches every library; write a part of the name");
        }
        Ok(Self(text.to_owned()))
    }
}
