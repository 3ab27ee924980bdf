//! Literals: texts, numbers and keywords. The crate `kdl` judges each, and this file finds the place of a fault in it.

use std::ops::Range;

use super::token::{TokenKind, escape, is_blank, is_newline, is_space, run};
use kdl::{KdlEntry, KdlError, KdlIdentifier};

pub(super) const KEYWORDS: [&str; 6] = ["#true", "#false", "#null", "#inf", "#-inf", "#nan"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Not a literal.
    Unreadable,
    /// A word that begins like a number.
    Unquoted,
    /// `true` without `#`.
    BareKeyword,
    /// A `\` before an ordinary character.
    Escape(Range<usize>),
    /// `\u{…}` with an invalid number.
    CodePoint(Range<usize>),
    /// `"""` with text after it on its line.
    FirstLine(Range<usize>),
    /// A closing `"""` with text before it on its line.
    LastLine(Range<usize>),
    /// A line with less indentation than the closing quotes.
    Indentation(Range<usize>),
    /// Any other, in the words of the crate `kdl`.
    Other(String),
}

/// Checks a literal.
///
/// # Errors
/// The first fault, as bytes of `literal`.
pub(super) fn check(kind: TokenKind, literal: &str) -> Result<(), Fault> {
    match kind {
        TokenKind::Quoted | TokenKind::Raw => text(literal, kind == TokenKind::Raw),
        TokenKind::Word if is_number(literal) => {
            KdlEntry::parse(literal).map(drop).map_err(|_| Fault::Unquoted)
        }
        TokenKind::Word if KEYWORDS.iter().any(|keyword| keyword[1..] == *literal) => {
            Err(Fault::BareKeyword)
        }
        TokenKind::Word => Ok(()),
        TokenKind::Keyword if KEYWORDS.contains(&literal) => Ok(()),
        _ => Err(Fault::Unreadable),
    }
}

/// Returns whether a literal without a fault is a text.
pub(super) fn is_text(kind: TokenKind, literal: &str) -> bool {
    match kind {
        TokenKind::Quoted | TokenKind::Raw => true,
        TokenKind::Word => !is_number(literal),
        _ => false,
    }
}

fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn text(literal: &str, raw: bool) -> Result<(), Fault> {
    let hashes = run(literal, |c| c == '#');
    let lines = literal[hashes..].starts_with("\"\"\"") && literal.len() >= 6 + 2 * hashes;
    if !lines && !literal.contains('\\') {
        return Ok(());
    }
    let Err(error) = KdlIdentifier::parse(literal) else { return Ok(()) };
    let from = hashes + if lines { 3 } else { 1 };
    let body = &literal[from..literal.len() - from];
    if lines && !body.starts_with(is_newline) {
        return Err(Fault::FirstLine(0..from));
    }
    if !raw {
        escapes(body, from)?;
    }
    Err(if lines { of_lines(body, from, &error) } else { fault_of_crate(&error) })
}

/// Returns the fault of a text of several lines whose escapes are right.
fn of_lines(body: &str, from: usize, error: &KdlError) -> Fault {
    let last = body.rfind(is_newline).map_or(0, |offset| offset + first(&body[offset..]));
    let indentation = &body[last..];
    if let Some(offset) = indentation.find(|c| !is_space(c)) {
        let start = from + last + offset;
        return Fault::LastLine(start..start + first(&indentation[offset..]));
    }
    let mut offset = from;
    for line in body.split_inclusive(is_newline) {
        let content = line.trim_end_matches(is_newline);
        if !content.chars().all(is_space) && !content.starts_with(indentation) {
            return Fault::Indentation(offset..offset + run(content, is_space).max(first(content)));
        }
        offset += line.len();
    }
    fault_of_crate(error)
}

fn fault_of_crate(error: &KdlError) -> Fault {
    Fault::Other(error.diagnostics.first().map_or_else(|| error.to_string(), ToString::to_string))
}

fn first(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn escapes(body: &str, from: usize) -> Result<(), Fault> {
    let mut offset = 0;
    while let Some(next) = body[offset..].find('\\') {
        offset += next;
        let length = escape_sequence(&body[offset..])
            .map_err(|(fault, length)| fault(from + offset..from + offset + length))?;
        offset += length;
    }
    Ok(())
}

type Refusal = (fn(Range<usize>) -> Fault, usize);

fn escape_sequence(rest: &str) -> Result<usize, Refusal> {
    match rest[1..].chars().next() {
        Some('n' | 'r' | 't' | 'b' | 'f' | 's' | '\\' | '"') => Ok(2),
        Some('u') => code_point(rest),
        Some(c) if is_blank(c) => Ok(escape(rest)),
        character => Err((Fault::Escape, 1 + character.map_or(0, char::len_utf8))),
    }
}

fn code_point(rest: &str) -> Result<usize, Refusal> {
    let digits = rest[2..].strip_prefix('{').and_then(|digits| digits.split_once('}'));
    let Some((digits, _)) = digits else { return Err((Fault::CodePoint, 2)) };
    let hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| hex);
    let length = 4 + digits.len();
    number.and_then(char::from_u32).map(|_| length).ok_or((Fault::CodePoint, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(literal: &str) -> Option<Fault> {
        let kind = if literal.starts_with('#') { TokenKind::Raw } else { TokenKind::Quoted };
        check(kind, literal).err()
    }

    #[test]
    fn finds_the_place_of_a_fault() {
        assert_eq!(fault(r#""a\d""#), Some(Fault::Escape(2..4)));
        assert_eq!(fault(r#""\u{d800}""#), Some(Fault::CodePoint(1..9)));
        assert_eq!(fault(r#""\u12""#), Some(Fault::CodePoint(1..3)));
        assert_eq!(fault("\"\"\"a\n\"\"\""), Some(Fault::FirstLine(0..3)));
        assert_eq!(fault("\"\"\"\n a\"\"\""), Some(Fault::LastLine(5..6)));
        assert_eq!(fault("\"\"\"\n a\\d\n \"\"\""), Some(Fault::Escape(6..8)));
        assert_eq!(fault("\"\"\"\n  a\n b\n  \"\"\""), Some(Fault::Indentation(8..9)));
        assert_eq!(fault("#\"\"\"\n  a\nb\n  \"\"\"#"), Some(Fault::Indentation(9..10)));
    }

    #[test]
    fn accepts_each_form() {
        for literal in [
            r#""a\tb\"\\\u{e9}\s\n""#,
            "\"a\\  \n  b\"",
            r##"#"a\d"#"##,
            "\"\"",
            "##\"\"##",
            "\"\"\"\n  a\n    b\n\n  c\n  \"\"\"",
            "\"\"\"\r\n a\r\n b\r\n \"\"\"",
            "\"\"\"\n  a \\\n     b\n  \"\"\"",
            "#\"\"\"\n  a\\\n  \"\"\"#",
            "\"\"\"\n\"\"\"",
        ] {
            assert_eq!(fault(literal), None, "{literal}");
        }
    }

    #[test]
    fn distinguishes_numbers_from_words() {
        for (word, fault) in [
            ("1", None),
            ("+0x1f", None),
            ("1.5e3", None),
            ("-", None),
            (".a", None),
            ("3.10.1", Some(Fault::Unquoted)),
            (".5", Some(Fault::Unquoted)),
            ("-1a", Some(Fault::Unquoted)),
            ("true", Some(Fault::BareKeyword)),
        ] {
            assert_eq!(check(TokenKind::Word, word).err(), fault, "{word}");
        }
    }
}
