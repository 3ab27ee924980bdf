//! Relative paths with `/`, identical on all systems.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ModuleName;

/// Relative path: segments separated by `/`, without `.`, `..` or control characters, sorted by
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = PATTERN)))]
pub struct RelPath(Arc<str>);

/// [`RelPath`] as a regular expression, for schemas.
#[cfg(feature = "schemas")]
const PATTERN: &str = r"^(?!\.{1,2}(/|$))[^/\\\u0000-\u001F\u007F-\u009F]+(/(?!\.{1,2}(/|$))[^/\\\u0000-\u001F\u007F-\u009F]+)*$";

/// Rejected path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {reason}", .path.escape_debug())]
pub struct PathError {
    /// Given text.
    pub path: String,
    /// Reason, as the end of a sentence.
    pub reason: &'static str,
}

impl RelPath {
    /// Path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Path without its last segment.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Segments in order.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Number of parents: 0 for `a`, 1 for `a/b`.
    pub fn depth(&self) -> usize {
        self.segments().count() - 1
    }

    /// Appends a path.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self([&self.0, "/", &below.0].concat().into())
    }

    /// Path relative to `directory`, if below it.
    pub fn below(&self, directory: &Self) -> Option<Self> {
        self.0.strip_prefix(&*directory.0)?.strip_prefix('/').map(|rest| Self(rest.into()))
    }

    /// Replaces the last segment.
    pub fn with_file_name(&self, name: &str) -> Result<Self, PathError> {
        match self.0.rsplit_once('/') {
            Some((parent, _)) => format!("{parent}/{name}").parse(),
            None => name.parse(),
        }
    }

    /// Relative path to another file: from `bin/a` to `lib/b` it is `../lib/b`.
    pub fn relative_to_sibling(&self, target: &Self) -> String {
        let alike = self.0.bytes().zip(target.0.bytes()).take_while(|(a, b)| a == b).count();
        let shared = self.0.as_bytes()[..alike]
            .iter()
            .rposition(|b| *b == b'/')
            .map_or(0, |index| index + 1);
        let up = self.0[shared..].matches('/').count();
        "../".repeat(up) + &target.0[shared..]
    }

    /// File at a path relative to the directory of this one, as [`Self::relative_to_sibling`]
    /// writes it. `None` outside of the common root.
    pub fn sibling(&self, relative: &str) -> Option<Self> {
        let mut segments: Vec<&str> = self.0.split('/').collect();
        segments.pop();
        for segment in relative.split('/') {
            match segment {
                ".." => _ = segments.pop()?,
                segment => segments.push(segment),
            }
        }
        segments.join("/").parse().ok()
    }
}

impl From<&ModuleName> for RelPath {
    fn from(name: &ModuleName) -> Self {
        Self(name.0.clone())
    }
}

impl FromStr for RelPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let reason = if text.is_empty() {
            "is empty"
        } else if text.starts_with('/') {
            "is absolute; write a relative path"
        } else if text.chars().any(char::is_control) {
            "has a control character; installers reject it"
        } else if text.contains('\\') {
            "has a backslash; write `/`"
        } else if text.split('/').any(|s| s == "..") {
            "has `..`, which can lead outside"
        } else if text.split('/').any(|s| s.is_empty() || s == ".") {
            "has an empty or `.` segment"
        } else {
            return Ok(Self(text.into()));
        };
        Err(PathError { path: text.to_owned(), reason })
    }
}

text_conversions!(RelPath, PathError);

/// Unicode's category "other", and replacements.
fn is_unseen(c: char) -> bool {
    use unicode_general_category::GeneralCategory::{Control, Format, PrivateUse, Unassigned};
    let category = unicode_general_category::get_general_category(c);
    matches!(category, Control | Format | PrivateUse | Unassigned)
        || c == char::REPLACEMENT_CHARACTER
}

/// Returns true for a path with an invisible or unassigned character.
pub fn has_unseen(path: &str) -> bool {
    path.chars().filter(|c| !c.is_ascii()).any(is_unseen)
}

/// Reason why file systems or installers reject a path.
pub fn oversize(path: &str) -> Option<&'static str> {
    if path.len() > 4095 {
        return Some("it is longer than 4,095 bytes");
    }
    if path.split('/').any(|segment| segment.len() > 255) {
        return Some("one of its segments is longer than 255 bytes");
    }
    if has_unseen(path) {
        return Some("it has an invisible or unassigned character");
    }
    (path.split('/').count() > 100).then_some("it is more than 100 directories deep")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse().unwrap()
    }

    #[test]
    fn refuses_invisible_characters() {
        for bad in ["a\u{feff}", "a\u{202e}b", "\u{200b}", "\u{e000}", "\u{ffff}", "\u{fffd}"] {
            assert!(oversize(bad).is_some(), "{bad:?}");
        }
        assert_eq!(["a b/ü,\"'", "日本", "\u{1f600}"].map(oversize), [None; 3]);
    }

    #[test]
    fn refuses_paths_that_can_leave_the_root() {
        for bad in ["", "/a", "a/../b", "..", "a//b", "./a", "a/", "a\nb", "a\\b"] {
            assert!(bad.parse::<RelPath>().is_err(), "{bad:?}");
        }
        assert_eq!(path("a b/ü,\"'").as_str(), "a b/ü,\"'");
    }

    #[test]
    fn finds_the_path_below_a_directory() {
        assert_eq!(path("a/b/c").below(&path("a")), Some(path("b/c")));
        for elsewhere in ["a", "ab/c", "c"] {
            assert_eq!(path(elsewhere).below(&path("a")), None, "{elsewhere}");
        }
    }

    #[test]
    fn finds_siblings_by_relative_paths() {
        for (from, to, relative) in [
            ("bin/a", "lib/llvm/b", "../lib/llvm/b"),
            ("lib/a", "lib/b", "b"),
            ("a", "b/c", "b/c"),
            ("lib/x/a", "lib/b", "../b"),
            ("lib/ab", "lib/ac/d", "ac/d"),
            ("lib64/a", "lib/a", "../lib/a"),
        ] {
            assert_eq!(path(from).relative_to_sibling(&path(to)), relative);
            assert_eq!(path(from).sibling(relative), Some(path(to)));
        }
        assert_eq!(path("lib/a").sibling("../../b"), None);
        assert_eq!(path("a/b").relative_to_sibling(&path("a/b")), "b");
    }
}
