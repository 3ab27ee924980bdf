//! Line breaking that keeps text for copying whole.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Breaks only at spaces outside backticks and quotes.
pub(super) fn options<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(SEPARATOR)
}

/// Wraps text to this width; lines after the first begin with `indent`.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    textwrap::fill(text, options(width).subsequent_indent(indent))
}

/// Separator that keeps code and quoted text as one word.
pub(super) const SEPARATOR: WordSeparator = WordSeparator::Custom(words);

fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut rest = line;
    Box::new(std::iter::from_fn(move || {
        let end = word_end(rest)?;
        let (word, more) = rest.split_at(end);
        rest = more;
        Some(Word::from(word))
    }))
}

fn word_end(text: &str) -> Option<usize> {
    let (mut offset, mut previous) = (0, ' ');
    while let Some(c) = text[offset..].chars().next() {
        if c == ' ' {
            let spaces = text[offset..].len() - text[offset..].trim_start_matches(' ').len();
            return Some(offset + spaces);
        }
        let opens = c == '`' || c == '"' && matches!(previous, ' ' | '=' | '(');
        let inside = if opens { text[offset + 1..].find(c) } else { None };
        previous = c;
        offset += inside.map_or(c.len_utf8(), |len| len + 2);
    }
    (offset > 0).then_some(offset)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        textwrap::wrap(text, options(width)).into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn flags_paths_and_code_stay_whole() {
        assert_eq!(
            lines("give --linux-amdgpu-families and `rpath \"core\" \"lib\"` here", 20),
            ["give", "--linux-amdgpu-families", "and", "`rpath \"core\" \"lib\"`", "here"]
        );
        assert_eq!(
            lines("say why: optional=\"not in every build\"", 12),
            ["say why:", "optional=\"not in every build\""]
        );
        assert_eq!(lines("a/path-with/hyphens-in/it", 8), ["a/path-with/hyphens-in/it"]);
    }

    #[test]
    fn treats_unpaired_quotes_as_characters() {
        assert_eq!(lines("one ` two \" three", 6), ["one `", "two \"", "three"]);
        assert_eq!(lines("", 6), [""]);
    }
}
