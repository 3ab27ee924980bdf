//! What a release changes by its version alone: the version itself, and the names of platform
//! directories when they have a suffix. Texts of the old side are read as the new one would say them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::contents::Package;
use base::version::Version;

/// From the words of the old side to those of the new.
#[derive(Debug, Default)]
pub(super) struct Translation<'a> {
    /// Platform directories that are called differently.
    directories: BTreeMap<&'a str, &'a str>,
}

impl<'a> Translation<'a> {
    /// From packages that are the same on both sides.
    pub fn new<'p>(pairs: impl IntoIterator<Item = (&'p Package<'a>, &'p Package<'a>)>) -> Self
    where
        'a: 'p,
    {
        let mut directories = BTreeMap::new();
        for (old, new) in pairs {
            if let (Some(from), Some(to)) = (old.platform_dir, new.platform_dir)
                && from != to
            {
                directories.entry(from).or_insert(to);
            }
        }
        Self { directories }
    }

    /// From the new side's words to the old one's.
    pub fn inverse(&self) -> Self {
        Self { directories: self.directories.iter().map(|(old, new)| (*new, *old)).collect() }
    }

    /// Whether no platform directory is called differently.
    pub fn is_identity(&self) -> bool {
        self.directories.is_empty()
    }

    /// A path, link or rpath: whole segments are translated.
    pub fn path<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.directories.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(['/', ':']) {
            let word = piece.trim_end_matches(['/', ':']);
            out.push_str(self.directories.get(word).copied().unwrap_or(word));
            out.push_str(&piece[word.len()..]);
        }
        Cow::Owned(out)
    }

    /// A text that names versions and platform directories.
    pub fn text<'t>(&self, text: &'t str, old: &Version, new: &Version) -> Cow<'t, str> {
        let text = if old == new {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(version(text, old.as_str(), new.as_str()))
        };
        if self.directories.is_empty() { text } else { Cow::Owned(self.words(&text)) }
    }

    fn words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |len| start + len);
            let word = &rest[start..end];
            out.push_str(&rest[..start]);
            out.push_str(self.directories.get(word).copied().unwrap_or(word));
            rest = &rest[end..];
        }
        out + rest
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text with one version for another; `17.2.0` does not have the version `7.2.0`.
fn version(text: &str, old: &str, new: &str) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(old) {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let before = text[..at].chars().next_back().is_some_and(part);
        let mut after = text[at + old.len()..].chars();
        // A full stop may end a sentence; before a digit it goes on.
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(|c| c.is_ascii_alphanumeric()),
            c => c.is_some_and(part),
        };
        if !before && !goes_on {
            out.push_str(&text[from..at]);
            out.push_str(new);
            from = at + old.len();
        }
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_versions_are_translated() {
        let said = |text: &str| version(text, "7.2.0", "7.3.0");
        assert_eq!(said("a==7.2.0; b==7.2.0."), "a==7.3.0; b==7.3.0.");
        for other in ["17.2.0", "7.2.01", "7.2.0.1", "1.7.2.0", "7.2.0rc1"] {
            assert_eq!(said(other), other);
        }
    }

    #[test]
    fn whole_names_are_translated() {
        let translation = Translation { directories: BTreeMap::from([("_core_1", "_core_2")]) };
        assert_eq!(
            translation.path("$ORIGIN/../../_core_1/lib:$ORIGIN/_core_11"),
            "$ORIGIN/../../_core_2/lib:$ORIGIN/_core_11"
        );
        assert_eq!(
            translation.words("\"_core_1\" _core_1x (_core_1)"),
            "\"_core_2\" _core_1x (_core_2)"
        );
        assert_eq!(Translation::default().path("_core_1"), "_core_1");
    }
}
