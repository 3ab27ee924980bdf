//! Directories in `DT_RPATH` and `DT_RUNPATH` (gABI, "Shared Object Dependencies"; ld.so(8)).

use std::fmt;

/// Directories in search order, separated by `:`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rpath<'t>(&'t str);

/// Directory, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RpathEntry<'t>(&'t str);

/// Target of an entry, relative to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leads {
    /// Directory below the root of the installation.
    Inside(String),
    /// Directory above that root.
    Above,
    /// Absolute path.
    Absolute,
    /// Relative path; an empty one is the working directory.
    WorkingDirectory,
    /// Known only to the loader (`$LIB`).
    Token,
}

impl<'t> Rpath<'t> {
    /// Empty text has no entries, as in glibc.
    pub fn new(text: &'t str) -> Self {
        Self(text)
    }

    /// All entries, including empty ones.
    pub fn entries(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.0.split(':').filter(move |_| !self.0.is_empty()).map(RpathEntry)
    }

    /// Non-empty entries.
    pub fn directories(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.entries().filter(|entry| !entry.0.is_empty())
    }

    /// Entries for [`RpathEdit`](super::RpathEdit).
    pub fn to_strings(self) -> Vec<String> {
        self.entries().map(|entry| entry.0.to_owned()).collect()
    }
}

/// Joins entries to an rpath.
pub fn rpath_text<E: AsRef<str>>(entries: impl IntoIterator<Item = E>) -> String {
    let mut text = String::new();
    for entry in entries {
        if !text.is_empty() {
            text.push(':');
        }
        text.push_str(entry.as_ref());
    }
    text
}

impl<'t> RpathEntry<'t> {
    /// Text.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// Path after an initial `$ORIGIN`.
    pub fn below_origin(self) -> Option<&'t str> {
        let rest = self.0.strip_prefix("$ORIGIN").or_else(|| self.0.strip_prefix("${ORIGIN}"))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Resolves the entry for a file in `directory`, without following links.
    pub fn leads_from(self, directory: &str) -> Leads {
        let Some(rest) = self.below_origin() else {
            return match self.0.chars().next() {
                Some('$') => Leads::Token,
                Some('/') => Leads::Absolute,
                _ => Leads::WorkingDirectory,
            };
        };
        if rest.contains('$') {
            return Leads::Token;
        }
        walked(directory, rest).map_or(Leads::Above, Leads::Inside)
    }

    /// Target, if below the root.
    pub fn inside(self, directory: &str) -> Option<String> {
        match self.leads_from(directory) {
            Leads::Inside(inside) => Some(inside),
            Leads::Above | Leads::Absolute | Leads::WorkingDirectory | Leads::Token => None,
        }
    }
}

/// Resolves `way` from `directory`, without following links; `None` above the root.
pub fn walked(directory: &str, way: &str) -> Option<String> {
    let mut segments: Vec<&str> =
        directory.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in way.split('/') {
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
        assert_eq!(rpath_text(directories.iter().map(|entry| entry.as_str())), "a:b");
    }

    #[test]
    fn resolves_entries_as_loader_does() {
        let leads = |entry| RpathEntry(entry).leads_from("_a/lib");
        let inside = |directory: &str| Leads::Inside(directory.to_owned());
        for (entry, expected) in [
            ("$ORIGIN", inside("_a/lib")),
            ("${ORIGIN}/", inside("_a/lib")),
            ("$ORIGIN/../../_b/lib/./x//y", inside("_b/lib/x/y")),
            ("$ORIGIN/../..", inside("")),
            ("$ORIGIN/../../..", Leads::Above),
            ("$ORIGIN/../$LIB", Leads::Token),
            ("$LIB", Leads::Token),
            ("$ORIGINAL", Leads::Token),
            ("/opt/lib", Leads::Absolute),
            ("lib", Leads::WorkingDirectory),
            ("", Leads::WorkingDirectory),
        ] {
            assert_eq!(leads(entry), expected, "{entry}");
        }
        assert_eq!(RpathEntry("$ORIGIN/lib").leads_from(""), inside("lib"));
    }
}
