//! Platform tags (PEP 425, 513, 571, 599, 600 and 656).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::System;

/// Platform tags accepted by installers, separated by `.`
/// (`manylinux_2_17_x86_64.manylinux2014_x86_64`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlatformTags(String);

/// Rejected platform tag or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tag}` is not a platform tag: {reason}; {remedy}")]
pub struct PlatformTagError {
    /// Invalid tag or set.
    pub tag: String,
    pub reason: String,
    /// Correction.
    pub remedy: String,
}

impl PlatformTags {
    /// Set as in file names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tags.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }

    /// System of the tags; `None` for `any`.
    pub fn system(&self) -> Option<System> {
        match self.as_str() {
            "any" => None,
            text if text.starts_with("win") => Some(System::Windows),
            _ => Some(System::Linux),
        }
    }
}

impl fmt::Display for PlatformTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for PlatformTags {
    type Err = PlatformTagError;

    fn from_str(text: &str) -> Result<Self, PlatformTagError> {
        let mut tags = BTreeSet::new();
        for tag in text.split('.') {
            if tag.is_empty() {
                return Err(error(text, "a tag is empty", "write one `.` between two tags"));
            }
            check(tag)?;
            if !tags.insert(tag) {
                return Err(error(text, format!("it has `{tag}` twice"), "remove one of them"));
            }
        }
        Ok(Self(text.to_owned()))
    }
}

/// Minimum C library of a Linux tag: `manylinux_2_28_x86_64`, `manylinux2014`, `musllinux_1_2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibcTag<'t> {
    /// musl instead of glibc.
    pub is_musl: bool,
    /// Release of the C library.
    pub release: (u32, u32),
    /// Architecture, if any.
    pub architecture: Option<&'t str>,
}

impl<'t> LibcTag<'t> {
    /// Reads a tag; `None` for one without a C library.
    pub fn of(tag: &'t str) -> Option<Self> {
        let (is_musl, release, architecture) = match split(tag)? {
            (TagKind::Glibc(release), architecture) => (false, release, architecture),
            (TagKind::Musl(release), architecture) => (true, release, architecture),
            (TagKind::Linux | TagKind::MacOs, _) => return None,
        };
        Some(Self { is_musl, release, architecture })
    }
}

/// Returns true for a tag without architecture: `manylinux_2_28`, `manylinux2014`, `musllinux_1_2`.
pub fn is_tag_level(text: &str) -> bool {
    LibcTag::of(text).is_some_and(|tag| tag.architecture.is_none())
}

/// Architectures in the spelling of `uname -m`.
const LINUX: [&str; 11] = [
    "x86_64",
    "aarch64",
    "i686",
    "armv6l",
    "armv7l",
    "armv8l",
    "ppc64",
    "ppc64le",
    "s390x",
    "riscv64",
    "loongarch64",
];

const MACOS: [&str; 11] = [
    "arm64",
    "x86_64",
    "universal2",
    "universal",
    "intel",
    "i386",
    "ppc",
    "ppc64",
    "fat",
    "fat32",
    "fat64",
];

/// Tags before PEP 600.
const LEGACY: [(&str, (u32, u32)); 3] =
    [("manylinux2014", (2, 17)), ("manylinux2010", (2, 12)), ("manylinux1", (2, 5))];

#[derive(Clone, Copy)]
enum TagKind {
    Linux,
    Glibc((u32, u32)),
    Musl((u32, u32)),
    MacOs,
}

impl TagKind {
    fn architectures(self) -> &'static [&'static str] {
        if matches!(self, Self::MacOs) { &MACOS } else { &LINUX }
    }
}

fn check(tag: &str) -> Result<(), PlatformTagError> {
    if ["any", "win32", "win_amd64", "win_arm64"].contains(&tag) {
        return Ok(());
    }
    let Some((system, architecture)) = split(tag) else { return Err(unknown(tag)) };
    let architectures = system.architectures();
    let Some(architecture) = architecture else {
        let remedy = format!("write it like `{tag}_{}`", architectures[0]);
        return Err(error(tag, "it has no architecture", remedy));
    };
    if !architectures.contains(&architecture) {
        let reason = format!("`{architecture}` is not an architecture that installers know");
        return Err(error(
            tag,
            reason,
            format!("the architectures are {}", architectures.join(", ")),
        ));
    }
    match system {
        TagKind::Glibc(release) => check_release(tag, architecture, release),
        _ => Ok(()),
    }
}

/// Rejects releases before the first policy of an architecture, like installers.
fn check_release(
    tag: &str,
    architecture: &str,
    release: (u32, u32),
) -> Result<(), PlatformTagError> {
    let oldest = if ["x86_64", "i686"].contains(&architecture) { (2, 5) } else { (2, 17) };
    if release >= oldest {
        return Ok(());
    }
    let (major, minor) = oldest;
    let reason = format!("{architecture} has no tags for glibc before {major}.{minor}");
    let remedy = format!("the oldest is `manylinux_{major}_{minor}_{architecture}`");
    Err(error(tag, reason, remedy))
}

fn split(tag: &str) -> Option<(TagKind, Option<&str>)> {
    let legacy = LEGACY.iter().find_map(|(name, release)| {
        Some((TagKind::Glibc(*release), architecture(tag.strip_prefix(name)?).ok()?))
    });
    if let Some(tag_parts) = legacy {
        return Some(tag_parts);
    }
    let (name, rest) = tag.split_once('_').unwrap_or((tag, ""));
    if name == "linux" {
        return Some((TagKind::Linux, (!rest.is_empty()).then_some(rest)));
    }
    let (major, rest) = number(rest)?;
    let (minor, rest) = number(rest.strip_prefix('_')?)?;
    let system = match name {
        "manylinux" => TagKind::Glibc((major, minor)),
        "musllinux" => TagKind::Musl((major, minor)),
        "macosx" => TagKind::MacOs,
        _ => return None,
    };
    Some((system, architecture(rest).ok()?))
}

fn architecture(rest: &str) -> Result<Option<&str>, ()> {
    if rest.is_empty() { Ok(None) } else { rest.strip_prefix('_').map(Some).ok_or(()) }
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let plain = digits == "0" || !digits.starts_with('0');
    (plain && digits.len() < 5).then(|| digits.parse().ok()).flatten().map(|n| (n, rest))
}

fn unknown(tag: &str) -> PlatformTagError {
    let spelt = tag.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    if spelt != tag && check(&spelt).is_ok() {
        let reason = "a tag has only lower-case letters, digits and `_`";
        return error(tag, reason, format!("write `{spelt}`"));
    }
    error(
        tag,
        "installers do not know it",
        "write a tag like `linux_x86_64`, `manylinux_2_28_x86_64` or `win_amd64`",
    )
}

fn error(tag: &str, reason: impl Into<String>, remedy: impl Into<String>) -> PlatformTagError {
    PlatformTagError { tag: tag.to_owned(), reason: reason.into(), remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_tags_of_installers() {
        for tag in [
            "any",
            "linux_x86_64",
            "linux_armv7l",
            "manylinux1_i686",
            "manylinux2010_x86_64",
            "manylinux2014_aarch64",
            "manylinux_2_28_x86_64",
            "manylinux_2_5_x86_64.manylinux1_x86_64",
            "musllinux_1_2_aarch64",
            "win32",
            "win_amd64",
            "win_arm64",
            "macosx_10_9_universal2",
            "macosx_11_0_arm64",
        ] {
            assert!(tag.parse::<PlatformTags>().is_ok(), "{tag}");
        }
    }

    #[test]
    fn refuses_unknown_tags_with_a_remedy() {
        let unknown = "installers do not know it; write a tag like `linux_x86_64`, `manylinux_2_28_x86_64` or `win_amd64`";
        let spelt = "a tag has only lower-case letters, digits and `_`; write `linux_x86_64`";
        let missing = |tag: &str| format!("it has no architecture; write it like `{tag}`");
        for (text, tag, expected) in [
            ("garbage", "garbage", unknown.to_owned()),
            ("manylinux", "manylinux", unknown.to_owned()),
            ("manylinux_2.28_x86_64", "manylinux_2", unknown.to_owned()),
            ("manylinux_02_28_x86_64", "manylinux_02_28_x86_64", unknown.to_owned()),
            ("any_x86_64", "any_x86_64", unknown.to_owned()),
            ("win_x86_64", "win_x86_64", unknown.to_owned()),
            ("../x", "../x", "a tag is empty; write one `.` between two tags".to_owned()),
            ("Linux_x86_64", "Linux_x86_64", spelt.to_owned()),
            ("linux-x86_64", "linux-x86_64", spelt.to_owned()),
            ("linux", "linux", missing("linux_x86_64")),
            ("manylinux2014", "manylinux2014", missing("manylinux2014_x86_64")),
            ("any.manylinux_2_28", "manylinux_2_28", missing("manylinux_2_28_x86_64")),
            ("macosx_11_0", "macosx_11_0", missing("macosx_11_0_arm64")),
            ("any.any", "any.any", "it has `any` twice; remove one of them".to_owned()),
            (
                "manylinux1_aarch64",
                "manylinux1_aarch64",
                "aarch64 has no tags for glibc before 2.17; the oldest is `manylinux_2_17_aarch64`"
                    .to_owned(),
            ),
        ] {
            let error = text.parse::<PlatformTags>().unwrap_err();
            assert_eq!(error.to_string(), format!("`{tag}` is not a platform tag: {expected}"));
        }
        let error = "linux_amd64".parse::<PlatformTags>().unwrap_err();
        assert!(error.remedy.starts_with("the architectures are x86_64, aarch64, "), "{error}");
    }

    #[test]
    fn a_level_is_a_tag_without_its_architecture() {
        for level in ["manylinux1", "manylinux2014", "manylinux_2_28", "musllinux_1_2"] {
            assert!(is_tag_level(level), "{level}");
        }
        for tag in ["linux", "manylinux_2_28_x86_64", "macosx_11_0", "glibc-2.28", "manylinux"] {
            assert!(!is_tag_level(tag), "{tag}");
        }
    }
}
