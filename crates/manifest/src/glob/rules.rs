//! Rules over paths, found by an index.

use std::ops::Deref;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::Glob;
use base::names::RelPath;

/// A rule for paths that a glob matches.
pub trait HasGlob {
    fn glob(&self) -> &Glob;
}

/// Rules in the order of the file.
///
/// Most globs have a word that is in every path that they match. One automaton finds these words in
/// a path, so that the time does not grow with the number of rules.
#[derive(Debug, Clone)]
pub struct Rules<R> {
    rules: Vec<R>,
    words: Arc<Words>,
}

#[derive(Debug, Default)]
struct Words {
    automaton: Option<AhoCorasick>,
    owners: Vec<usize>,
    without_word: Vec<usize>,
}

impl<R> Default for Rules<R> {
    fn default() -> Self {
        Self { rules: Vec::new(), words: Arc::default() }
    }
}

impl<R> Deref for Rules<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.rules
    }
}

impl<R: HasGlob> FromIterator<R> for Rules<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rules: I) -> Self {
        let rules: Vec<R> = rules.into_iter().collect();
        let words = Arc::new(Words::new(rules.iter().map(R::glob)));
        Self { rules, words }
    }
}

impl<R: HasGlob> Rules<R> {
    /// Returns the rules that match the path, with their indexes.
    pub fn matching(&self, path: &RelPath) -> impl Iterator<Item = (usize, &R)> {
        self.possible(path.as_str()).filter(move |(_, rule)| rule.glob().matches(path))
    }

    /// Returns the rules that can match a path.
    pub fn possible(&self, path: &str) -> impl Iterator<Item = (usize, &R)> {
        self.words.found_in(path).into_iter().map(|index| (index, &self.rules[index]))
    }
}

impl Words {
    fn new<'g>(globs: impl Iterator<Item = &'g Glob>) -> Self {
        let (mut words, mut owners, mut without_word) = (Vec::new(), Vec::new(), Vec::new());
        for (index, glob) in globs.enumerate() {
            match glob.word() {
                Some(word) => {
                    words.push(word);
                    owners.push(index);
                }
                None => without_word.push(index),
            }
        }
        if words.is_empty() {
            return Self { automaton: None, owners, without_word };
        }
        let automaton = AhoCorasick::new(words).ok();
        if automaton.is_none() {
            // Too many words for the automaton: each rule is tried.
            without_word.append(&mut owners);
            without_word.sort_unstable();
        }
        Self { automaton, owners, without_word }
    }

    /// Rules without a word, and rules with a word in the text, in their order.
    fn found_in(&self, text: &str) -> Vec<usize> {
        let mut indices = self.without_word.clone();
        if let Some(automaton) = &self.automaton {
            let hits = automaton.find_overlapping_iter(text);
            indices.extend(hits.map(|hit| self.owners[hit.pattern().as_usize()]));
            indices.sort_unstable();
            indices.dedup();
        }
        indices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl HasGlob for Glob {
        fn glob(&self) -> &Glob {
            self
        }
    }

    #[test]
    fn finds_the_rules_that_match_alone() {
        let globs = [
            "**",
            "lib/**",
            "*.so",
            "**/*7*/**",
            "{lib,bin}/x*",
            "[lb]ib/?",
            "lib/lib*.so*",
            "a/**/b",
            "lib/{a,b}*",
            "*7*",
            "bin/x",
            "lib",
        ];
        let rules: Rules<Glob> = globs.iter().map(|text| text.parse().unwrap()).collect();
        for path in [
            "lib",
            "lib/x",
            "bin/x",
            "lib/liba.so.1",
            "a/b",
            "a/c/b",
            "x/77/y",
            "77",
            "x.so",
            "lib/ab",
            "ü",
        ] {
            let path: RelPath = path.parse().unwrap();
            let expected: Vec<usize> =
                (0..globs.len()).filter(|index| rules[*index].matches(&path)).collect();
            let actual: Vec<usize> = rules.matching(&path).map(|(index, _)| index).collect();
            assert_eq!(actual, expected, "{path}");
        }
    }

    #[test]
    fn tries_only_rules_that_can_match() {
        let rules: Rules<Glob> =
            (100..999).map(|number| format!("**/*{number}*/**").parse().unwrap()).collect();
        assert_eq!(rules.possible("lib/a100b/200").count(), 2);
        assert_eq!(rules.possible("lib").count(), 0);
    }
}
