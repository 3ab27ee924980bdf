//! Translates old texts: a new version or suffix of platform directories is no difference.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::version::Version;

#[derive(Debug, Default)]
pub(super) struct Translation<'a> {
    directories: BTreeMap<&'a str, &'a str>,
}

/// Translations in both directions.
#[derive(Debug)]
pub(super) struct Translations<'a> {
    /// From old to new names.
    pub forward: Translation<'a>,
    /// From new to old names.
    pub inverse: Translation<'a>,
}

impl<'a> Translations<'a> {
    /// Translates between the old and new platform directories of paired packages.
    pub fn new(directories: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let forward = Translation::new(directories);
        Self { inverse: forward.inverse(), forward }
    }
}

impl<'a> Translation<'a> {
    /// Takes the first new name of a directory whose packages have several.
    fn new(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut directories = BTreeMap::new();
        for (old, new) in pairs.into_iter().filter(|(old, new)| old != new) {
            directories.entry(old).or_insert(new);
        }
        Self { directories }
    }

    /// Old and new names of the renamed platform directories.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.directories.iter().map(|(old, new)| (*old, *new))
    }

    fn inverse(&self) -> Self {
        Self { directories: self.directories.iter().map(|(old, new)| (*new, *old)).collect() }
    }

    pub(crate) fn is_identity(&self) -> bool {
        self.directories.is_empty()
    }

    /// Translates whole segments of a path or search path.
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

/// `17.2.0` does not contain `7.2.0`.
fn version(text: &str, old: &str, new: &str) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(old) {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let before = text[..at].chars().next_back().is_some_and(part);
        let mut after = text[at + old.len()..].chars();
        // A dot ends the version unless an alphanumeric follows.
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
        let translated = |text: &str| version(text, "7.2.0", "7.3.0");
        assert_eq!(translated("a==7.2.0; b==7.2.0."), "a==7.3.0; b==7.3.0.");
        for other in ["17.2.0", "7.2.01", "7.2.0.1", "1.7.2.0", "7.2.0rc1"] {
            assert_eq!(translated(other), other);
        }
    }

    #[test]
    fn the_first_of_two_new_names_counts_in_both_directions() {
        let translations = Translations::new([("_a", "_b"), ("_a", "_c"), ("_d", "_d")]);
        assert_eq!(translations.forward.directories().collect::<Vec<_>>(), [("_a", "_b")]);
        assert_eq!(translations.inverse.directories().collect::<Vec<_>>(), [("_b", "_a")]);
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
