//! Globs over installed paths.

use std::fmt;
use std::str::FromStr;

use base::names::RelPath;

mod compiled;
mod pattern;
mod rules;

pub(super) use compiled::Compiled;
pub use rules::{HasGlob, Rules};

/// A compiled glob: case-sensitive, over the whole installed path; `*` and `?` stay inside
/// one segment, `**` spans segments, and `a/**` also matches `a` itself.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    /// Common prefix of its paths.
    prefix: String,
    compiled: Compiled,
}

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// The reason: wrong syntax, or too large.
    pub fn new(text: &str) -> Result<Self, String> {
        let fixed = text.strip_suffix("/**").unwrap_or(text);
        let forms = [text, fixed];
        let globs = if fixed == text { &forms[..1] } else { &forms };
        let compiled = Compiled::new(globs, true)?;
        let prefix = fixed.split(['*', '?', '[', '{']).next().unwrap_or_default().to_owned();
        Ok(Self { text: text.to_owned(), prefix, compiled })
    }

    /// Returns the glob as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the whole path matches.
    pub fn matches(&self, path: &RelPath) -> bool {
        let path = path.as_str();
        path.starts_with(&self.prefix) && self.compiled.is_match(path)
    }

    /// Returns whether it matches a directory and everything that can be below it.
    pub fn matches_tree(&self, directory: &RelPath) -> bool {
        (self.text == "**" || self.text.ends_with("/**")) && self.matches(directory)
    }

    /// Returns whether each of its alternatives has a word.
    pub(crate) fn has_words(&self) -> bool {
        let alternatives = pattern::alternatives(self.as_str());
        alternatives.map_or(self.word().is_some(), |alternatives| {
            alternatives.iter().all(|alternative| pattern::word(alternative).is_some())
        })
    }

    pub(crate) fn word(&self) -> Option<&str> {
        pattern::word(&self.text)
    }
}

/// Text that is not a glob over installed paths, or cannot match any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a glob over installed paths: {reason}")]
pub struct GlobError {
    pub text: String,
    /// Fault.
    pub reason: String,
    pub remedy: Option<String>,
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(text: &str) -> Result<Self, GlobError> {
        let error = |reason: String, remedy: Option<String>| GlobError {
            text: text.to_owned(),
            reason,
            remedy,
        };
        let trimmed = text.trim();
        if trimmed != text {
            return Err(error(
                "it begins or ends with a blank".to_owned(),
                possible(trimmed).map(|glob| format!("write {glob}")),
            ));
        }
        if let Some(star) = text.chars().find(|c| LIKE_A_STAR.contains(c)) {
            return Err(error(
                format!("it has `{star}` (U+{:04X}), which is not `*`", u32::from(star)),
                possible(&text.replace(LIKE_A_STAR, "*")).map(|glob| format!("write {glob}")),
            ));
        }
        if text.ends_with('/') {
            let tree = format!("{}/**", text.trim_end_matches('/'));
            return Err(error(
                "installed paths do not end in `/`".to_owned(),
                possible(&tree).map(|tree| format!("to match all files below it, write {tree}")),
            ));
        }
        text.parse::<RelPath>().map_err(|e| error(format!("it {}", e.reason), None))?;
        if let Some(segment) = text.split('/').find(|s| s.contains("**") && *s != "**") {
            return Err(error(
                format!("`**` must be a whole segment, not part of `{segment}`"),
                possible(&pattern::whole_stars(text)).map(|glob| format!("write {glob}")),
            ));
        }
        let glob = Self::new(text).map_err(|reason| error(reason, None))?;
        pattern::impossible(text).map_or(Ok(glob), |(reason, remedy)| Err(error(reason, remedy)))
    }
}

/// Characters that editors and web pages put in place of `*`.
const LIKE_A_STAR: [char; 4] = ['\u{2217}', '\u{204e}', '\u{2731}', '\u{ff0a}'];

fn possible(glob: &str) -> Option<String> {
    glob.parse::<Glob>().is_ok().then(|| format!("\"{glob}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposes_valid_globs() {
        for (text, expected) in [
            ("lib**/pkgconfig", Some("lib*/**/pkgconfig")),
            ("lib/a**", Some("lib/a*/**")),
            ("lib/**.so", Some("lib/**/*.so")),
            ("a**b/***", Some("a*/**/*b/**")),
            ("lib/{a**,b}", Some("lib/{a*/**/*,b}")),
            ("share/", Some("share/**")),
            ("share//", Some("share/**")),
            ("../**/", None),
            ("[**/]", None),
            ("/", None),
        ] {
            let remedy = text.parse::<Glob>().unwrap_err().remedy;
            let proposed = remedy.as_deref().and_then(|text| text.split('"').nth(1));
            assert_eq!(proposed, expected, "{text}");
            assert!(proposed.is_none_or(|glob| glob.parse::<Glob>().is_ok()), "{text}");
        }
    }

    fn matches(glob: &str, path: &str) -> bool {
        Glob::new(glob).unwrap().matches(&path.parse().unwrap())
    }

    #[test]
    fn matches_a_tree_by_two_stars_at_the_end() {
        let tree =
            |glob: &str, path: &str| Glob::new(glob).unwrap().matches_tree(&path.parse().unwrap());
        assert!(
            tree("**", "share/doc") && tree("share/**", "share") && tree("share/**", "share/doc")
        );
        assert!(!tree("share/doc", "share/doc") && !tree("share/*", "share/doc"));
        assert!(!tree("share/doc/**", "share"));
    }

    #[test]
    fn matches_stars_within_segments() {
        assert!(matches("bin/rocprof-*", "bin/rocprof-sys"));
        assert!(!matches("bin/rocprof-*", "bin/rocprof-sys/x"));
        assert!(matches("**/cmake/**", "cmake/x"));
        assert!(matches("**/cmake/**", "lib/cmake/x/y"));
        assert!(matches("**/cmake/**", "lib/cmake"));
        assert!(!matches("**/cmake/**", "lib/cmakes/x"));
        assert!(matches("lib/cmake/**", "lib/cmake"));
        assert!(!matches("lib/cmake/**", "lib/cmakes"));
        assert!(matches("lib/{a,b}/[cd]?", "lib/b/de"));
        assert!(!matches("lib/a*", "lib"));
        assert!(matches("share/**/p/**", "share/p/x"));
        assert!(matches("share/**/p/**", "share/doc/p/x"));
        assert!(!matches("lib/*.so", "lib/A.SO"));
        assert!(matches("lib/.hid*", "lib/.hidden"));
        assert!(matches("lib/*", "lib/.hidden"));
    }
}
