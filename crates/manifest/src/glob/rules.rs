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
/// a path, so that only rules with a word in the path, and rules without a word, are tried.
#[derive(Debug, Clone)]
pub struct Rules<R> {
    rules: Vec<R>,
    /// Shared, because rules are cloned for each target.
    words: Arc<Words>,
}

#[derive(Debug, Default)]
struct Words {
    automaton: Option<AhoCorasick>,
    /// Index of the rule of each word, by the word's number in the automaton.
    rule_of_word: Vec<usize>,
    /// Sorted indexes of rules that are always tried.
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

    /// Returns the candidates of a path: all rules that match it, and some that do not.
    pub fn possible(&self, path: &str) -> impl Iterator<Item = (usize, &R)> {
        self.words.candidates(path).into_iter().map(|index| (index, &self.rules[index]))
    }
}

impl Words {
    fn new<'g>(globs: impl Iterator<Item = &'g Glob>) -> Self {
        let (mut words, mut rule_of_word, mut without_word) = (Vec::new(), Vec::new(), Vec::new());
        for (index, glob) in globs.enumerate() {
            match glob.word() {
                Some(word) => {
                    words.push(word);
                    rule_of_word.push(index);
                }
                None => without_word.push(index),
            }
        }
        if words.is_empty() {
            return Self { automaton: None, rule_of_word, without_word };
        }
        let automaton = AhoCorasick::new(words).ok();
        if automaton.is_none() {
            // Too many words for the automaton: each rule is tried.
            without_word.append(&mut rule_of_word);
            without_word.sort_unstable();
        }
        Self { automaton, rule_of_word, without_word }
    }

    /// Returns the sorted indexes of rules that can match: those without a word, and those with a word in the text.
    fn candidates(&self, text: &str) -> Vec<usize> {
        let mut indexes = self.without_word.clone();
        if let Some(automaton) = &self.automaton {
            let hits = automaton.find_overlapping_iter(text);
            indexes.extend(hits.map(|hit| self.rule_of_word[hit.pattern().as_usize()]));
            indexes.sort_unstable();
            indexes.dedup();
        }
        indexes
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
    fn matching_finds_exactly_the_rules_that_match() {
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
