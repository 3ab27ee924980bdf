//! Turns of phrase that well-kept crates hardly use.

use std::fmt::{Display, Formatter, Result};

use fancy_regex::Regex;

use super::passage::Passage;

/// Name and pattern of each turn of phrase. Case does not matter.
const PATTERNS: &[(&str, &str)] = &[
    ("what", r"\b(what|whoever|whatever|whose)\b"),
    // ", who" and "users who want" are field English.
    ("who", r"(?<![,] )\bwho\b(?! (are|is|want|use)\b)"),
    ("those of", r"\b(those|that) of\b"),
    ("one that", r"\b(one|those) (that|which|who)\b"),
    ("is told", r"\b(is|are|was|were|be) told\b|\btells?\b"),
    ("of its own", r"\bof (its|their) own\b|\bby (itself|themselves)\b"),
    ("is there", r"\b(is|are|be|was|were) there\b(?! (a|an|no|any)\b)"),
    ("stands, lies", r"\b(stands?|lies?)\b"),
    ("beside", r"\bbesides?\b"),
    ("else", r"(?<!or )(?<!anything )(?<!something )(?<!nothing )(?<!everything )\belse\b(?! if)"),
    ("comes, goes", r"\b(comes?|goes?)\b(?! (from|back|to)\b)"),
    ("has not", r"\b(has|have|does|do|is|are) (not|none)\b(?= [,.;:]|[.,;:])|\b(is|are) none\b"),
    ("archaic", r"\bin vain\b|\bshall\b|\bhence\b|\bthereof\b|\bwherein\b|\bthereby\b"),
];

/// Compiled patterns.
pub struct Marks(Vec<(&'static str, Regex)>);

/// A turn of phrase in a sentence.
pub struct Mark<'a> {
    passage: &'a Passage,
    name: &'static str,
    sentence: &'a str,
}

impl Marks {
    pub fn new() -> Self {
        let compiled = |pattern| Regex::new(&format!("(?i){pattern}")).unwrap();
        Self(PATTERNS.iter().map(|&(name, pattern)| (name, compiled(pattern))).collect())
    }

    /// Returns each mark of `passage`, in the order of the patterns.
    pub fn find<'a>(&self, passage: &'a Passage) -> Vec<Mark<'a>> {
        let mut found = Vec::new();
        for (name, regex) in &self.0 {
            for hit in regex.find_iter(&passage.text) {
                let sentence = sentence_at(&passage.text, hit.unwrap().start());
                found.push(Mark { passage, name, sentence });
            }
        }
        found
    }
}

impl<'a> Mark<'a> {
    pub fn file(&self) -> &'a str {
        &self.passage.file
    }
}

impl Display for Mark<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { passage: Passage { file, line, .. }, name, sentence } = self;
        write!(f, "{file}:{line}: [{name}] {sentence}")
    }
}

/// Returns the sentence of `text` at byte `at`.
fn sentence_at(text: &str, at: usize) -> &str {
    const ENDS: [char; 5] = ['.', ';', ':', '!', '?'];
    let ends_here = |end: &usize| text[*end..].chars().nth(1).is_none_or(char::is_whitespace);
    let before = text[..at].rmatch_indices(ENDS).map(|(end, _)| end).find(ends_here);
    let after = text[at..].match_indices(ENDS).map(|(end, _)| at + end).find(ends_here);
    let start = before.map_or(0, |end| end + 1);
    text[start..after.map_or(text.len(), |end| end + 1)].trim()
}

/// Returns whether the first word of a doc comment is a question word.
pub fn is_question(text: &str) -> bool {
    const QUESTIONS: [&str; 13] = [
        "how", "what", "whatever", "when", "where", "wherever", "whether", "which", "who",
        "whoever", "whom", "whose", "why",
    ];
    let first = text.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    QUESTIONS.contains(&first.to_lowercase().as_str())
}
