//! Directories in `DT_RPATH` and `DT_RUNPATH` (gABI, "Shared Object Dependencies"; ld.so(8)).

use std::fmt;

/// Directories in search order, separated by `:`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rpath<'t>(&'t str);

/// One entry of an rpath, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RpathEntry<'t>(&'t str);

/// Target of an entry, relative to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryTarget {
    /// Directory below the root of the installation.
    Inside(String),
    /// Directory above that root.
    Above,
    /// Absolute path.
    Absolute,
    /// Relative path; an empty one is the working directory.
    WorkingDirectory,
    /// Directory that only the loader knows: other tokens than a leading `$ORIGIN`, such as `$LIB`.
    Token,
}

impl<'t> Rpath<'t> {
    /// Wraps the text of a tag.
    pub fn new(text: &'t str) -> Self {
        Self(text)
    }

    /// All entries, including empty ones. Empty text has no entries, as in glibc.
    pub fn entries(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.0.split(':').filter(move |_| !self.0.is_empty()).map(RpathEntry)
    }

    /// Non-empty entries.
    pub fn directories(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.entries().filter(|entry| !entry.0.is_empty())
    }

    /// Returns all entries as [`RpathEdit`](super::RpathEdit) takes them.
    pub fn to_strings(self) -> Vec<String> {
        self.entries().map(|entry| entry.0.to_owned()).collect()
    }
}

/// Joins entries to an rpath. A single empty entry gives an empty text, which has no entries.
pub fn join_entries<E: AsRef<str>>(entries: impl IntoIterator<Item = E>) -> String {
    let mut text = String::new();
    for (index, entry) in entries.into_iter().enumerate() {
        if index > 0 {
            text.push(':');
        }
        text.push_str(entry.as_ref());
    }
    text
}

impl<'t> RpathEntry<'t> {
    /// Returns the entry as written.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// Path after an initial `$ORIGIN`.
    pub fn below_origin(self) -> Option<&'t str> {
        let rest = self.0.strip_prefix("$ORIGIN").or_else(|| self.0.strip_prefix("${ORIGIN}"))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Resolves the entry for a file in `directory`, without following links.
    pub fn target_from(self, directory: &str) -> EntryTarget {
        let Some(rest) = self.below_origin() else {
            return match self.0.chars().next() {
                Some('$') => EntryTarget::Token,
                Some('/') => EntryTarget::Absolute,
                _ => EntryTarget::WorkingDirectory,
            };
        };
        if rest.contains('$') {
            return EntryTarget::Token;
        }
        resolve_relative(directory, rest).map_or(EntryTarget::Above, EntryTarget::Inside)
    }

    /// Returns the target for a file in `directory`, if it is below the root of the installation.
    pub fn installed_directory(self, directory: &str) -> Option<String> {
        match self.target_from(directory) {
            EntryTarget::Inside(target) => Some(target),
            EntryTarget::Above
            | EntryTarget::Absolute
            | EntryTarget::WorkingDirectory
            | EntryTarget::Token => None,
        }
    }
}

/// Resolves a relative path from `directory`, without following links; `None` if it leads above the
/// root.
pub fn resolve_relative(directory: &str, relative: &str) -> Option<String> {
    let mut segments: Vec<&str> =
        directory.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in relative.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop()?,
            name => segments.push(name),
        }
    }
    Some(segments.join("/"))
}

impl fmt::Display for RpathEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_entries_at_colons() {
        let all = |text| Rpath::new(text).to_strings();
        assert_eq!(all(""), [""; 0]);
        assert_eq!(all("a::b:"), ["a", "", "b", ""]);
        let directories: Vec<_> = Rpath::new("a::b:").directories().collect();
        assert_eq!(join_entries(directories.iter().map(|entry| entry.as_str())), "a:b");
    }

    #[test]
    fn joins_the_entries_that_a_text_has() {
        for text in ["", "a", ":a", "::", "a::b:"] {
            assert_eq!(join_entries(Rpath::new(text).to_strings()), text);
        }
    }

    #[test]
    fn classifies_entries() {
        let target = |entry| RpathEntry(entry).target_from("_a/lib");
        let inside = |directory: &str| EntryTarget::Inside(directory.to_owned());
        for (entry, expected) in [
            ("$ORIGIN", inside("_a/lib")),
            ("${ORIGIN}/", inside("_a/lib")),
            ("$ORIGIN/../../_b/lib/./x//y", inside("_b/lib/x/y")),
            ("$ORIGIN/../..", inside("")),
            ("$ORIGIN/../../..", EntryTarget::Above),
            ("$ORIGIN/../$LIB", EntryTarget::Token),
            ("$LIB", EntryTarget::Token),
            ("$ORIGINAL", EntryTarget::Token),
            ("/opt/lib", EntryTarget::Absolute),
            ("lib", EntryTarget::WorkingDirectory),
            ("", EntryTarget::WorkingDirectory),
        ] {
            assert_eq!(target(entry), expected, "{entry}");
        }
        assert_eq!(RpathEntry("$ORIGIN/lib").target_from(""), inside("lib"));
    }
}
