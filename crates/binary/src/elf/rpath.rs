//! The directories of `DT_RPATH` and `DT_RUNPATH` (gABI, "Shared Object Dependencies"; ld.so(8)).

use std::fmt;

/// The value of one of the two tags: directories with `:` between, in the order in which they are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rpath<'t>(&'t str);

/// One directory of an rpath, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RpathEntry<'t>(&'t str);

/// Where an entry leads from the file that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leads {
    /// To this directory below the top that the file's directory is below.
    Inside(String),
    /// Above that top.
    Above,
    /// To a directory of the machine.
    Absolute,
    /// To a directory below the one that a program is started in; an empty entry is that one itself.
    WorkingDirectory,
    /// Only the loader knows (`$LIB`, `$PLATFORM`).
    Token,
}

impl<'t> Rpath<'t> {
    /// The rpath with this text. Without text it has no entry: so glibc's loader takes it.
    pub fn new(text: &'t str) -> Self {
        Self(text)
    }

    /// Every entry, empty ones too.
    pub fn entries(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.0.split(':').filter(move |_| !self.0.is_empty()).map(RpathEntry)
    }

    /// The entries that are not empty. An empty one stands for the working directory, which no
    /// package can mean.
    pub fn directories(self) -> impl Iterator<Item = RpathEntry<'t>> {
        self.entries().filter(|entry| !entry.0.is_empty())
    }

    /// The entries as an editor takes them.
    pub fn to_strings(self) -> Vec<String> {
        self.entries().map(|entry| entry.0.to_owned()).collect()
    }
}

/// The text of an rpath with these entries.
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
    /// Its text.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// The way from the file's own directory (empty, or from a `/` on), if the entry begins there.
    pub fn below_origin(self) -> Option<&'t str> {
        let rest = self.0.strip_prefix("$ORIGIN").or_else(|| self.0.strip_prefix("${ORIGIN}"))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Where it leads from a file in `directory`, which is empty or `/`-relative to some top. No link
    /// is followed.
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

    /// The directory below the top, if it leads to one: [`RpathEntry::leads_from`].
    pub fn inside(self, directory: &str) -> Option<String> {
        match self.leads_from(directory) {
            Leads::Inside(inside) => Some(inside),
            Leads::Above | Leads::Absolute | Leads::WorkingDirectory | Leads::Token => None,
        }
    }
}

/// The directory that `way` leads to from `directory`; `None` when it leads above the top. No link is followed.
pub fn walked(directory: &str, way: &str) -> Option<String> {
    let mut at: Vec<&str> = directory.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in way.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = at.pop()?,
            name => at.push(name),
        }
    }
    Some(at.join("/"))
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
    fn entries_are_what_is_between_colons() {
        let all = |text| Rpath::new(text).to_strings();
        assert_eq!(all(""), [""; 0]);
        assert_eq!(all("a::b:"), ["a", "", "b", ""]);
        let directories: Vec<_> = Rpath::new("a::b:").directories().collect();
        assert_eq!(rpath_text(directories.iter().map(|entry| entry.as_str())), "a:b");
    }

    #[test]
    fn entries_lead_where_the_loader_goes() {
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
