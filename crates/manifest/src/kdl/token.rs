//! Tokens of a KDL text: every byte belongs to exactly one.
//!
//! Texts and comments are recognized by their ends alone, so that reading is linear, and an
//! unclosed text ends with its line.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Space,
    Newline,
    /// `// …`, without the line break.
    LineComment,
    /// `/* … */`, also nested.
    BlockComment,
    /// `/-`, before an ignored part.
    Slashdash,
    /// `\`, before a line break.
    Continue,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `(`
    OpenType,
    /// `)`
    CloseType,
    /// `=`
    Equals,
    /// `;`
    Semicolon,
    /// `"…"` or `"""…"""`, with escapes.
    Quoted,
    /// `#"…"#` or `#"""…"""#`, without escapes.
    Raw,
    /// `#` with a word: `#true`.
    Keyword,
    /// An identifier or a number.
    Word,
    /// A path, a glob or a call without quotes.
    Bare,
    /// Characters that no token starts with, such as `[`.
    Stray,
    /// An unclosed text, up to the end of the line or file.
    OpenText,
    /// An unclosed comment, up to the end of the file.
    OpenComment,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) fn token(text: &str, offset: usize) -> Token {
    let rest = &text[offset..];
    let (kind, length) = scan(rest);
    Token { kind, start: offset, end: offset + length }
}

fn scan(rest: &str) -> (TokenKind, usize) {
    let Some(first) = rest.chars().next() else { return (TokenKind::End, 0) };
    if is_space(first) {
        return (TokenKind::Space, run(rest, is_space));
    }
    if is_newline(first) {
        return (TokenKind::Newline, newline(rest));
    }
    match first {
        '/' if rest.starts_with("//") => (TokenKind::LineComment, run(rest, |c| !is_newline(c))),
        '/' if rest.starts_with("/*") => block_comment(rest),
        '/' if rest.starts_with("/-") => (TokenKind::Slashdash, 2),
        '\\' if continues(rest) => (TokenKind::Continue, 1),
        '{' if is_choice(rest) => (TokenKind::Bare, bare(rest)),
        '{' => (TokenKind::Open, 1),
        '}' => (TokenKind::Close, 1),
        '(' => (TokenKind::OpenType, 1),
        ')' => (TokenKind::CloseType, 1),
        '=' => (TokenKind::Equals, 1),
        ';' => (TokenKind::Semicolon, 1),
        '"' => quoted(rest),
        '#' => hash(rest),
        '/' | '\\' => (TokenKind::Bare, bare(rest)),
        '[' if is_class(rest) => (TokenKind::Bare, bare(rest)),
        first if is_word(first) => word(rest),
        first => (TokenKind::Stray, first.len_utf8()),
    }
}

/// A word, or a path or call that begins like one: `lib/*.so`, `https://host`, `file("x")`.
fn word(rest: &str) -> (TokenKind, usize) {
    let length = run(rest, is_word);
    let (word, next) = rest.split_at(length);
    let comment = next.starts_with("//") && !word.ends_with(':');
    let is_bare = next.starts_with('/') && !comment && !next.starts_with("/-")
        || next.starts_with('\\') && !continues(next)
        || next.starts_with('[')
        || next.starts_with('{') && is_choice(next)
        || next.starts_with('(');
    if is_bare { (TokenKind::Bare, bare(rest)) } else { (TokenKind::Word, length) }
}

/// Returns the length of a text without quotes: to the next space, or to the end of a block.
fn bare(rest: &str) -> usize {
    let mut depth = 0_usize;
    let ends = |(_, c): &(usize, char)| {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return true,
            '}' => depth -= 1,
            _ => {}
        }
        is_space(*c) || is_newline(*c)
    };
    let end = rest.char_indices().find(ends).map_or(rest.len(), |(offset, _)| offset);
    rest[..end].trim_end_matches(';').len().max(1)
}

/// Longest choice or class in bytes.
const FAR: usize = 200;

/// `{a,b}`, unlike a block.
fn is_choice(rest: &str) -> bool {
    let inside = ahead(rest, |c| matches!(c, '"' | ';' | '=' | '{'));
    inside.split_once('}').is_some_and(|(choice, _)| choice.contains(','))
}

/// `[ab]*`, unlike a list.
fn is_class(rest: &str) -> bool {
    let inside = ahead(rest, |c| matches!(c, '"' | '\'' | ',' | '['));
    inside.split_once(']').is_some_and(|(class, after)| !class.is_empty() && !after.is_empty())
}

/// Text up to a blank or an ending character, at most [`FAR`] bytes, so that many brackets take
/// linear time.
fn ahead(rest: &str, ends: impl Fn(char) -> bool) -> &str {
    let inside = &rest[1..rest.floor_char_boundary(FAR)];
    &inside[..run(inside, |c| !is_blank(c) && !ends(c))]
}

pub(super) fn is_blank(c: char) -> bool {
    is_space(c) || is_newline(c)
}

fn continues(rest: &str) -> bool {
    let after = rest[1..].trim_start_matches(is_space);
    after.is_empty()
        || after.starts_with(is_newline)
        || after.starts_with("//")
        || after.starts_with("/*")
}

fn block_comment(rest: &str) -> (TokenKind, usize) {
    let (bytes, mut depth, mut offset) = (rest.as_bytes(), 0_usize, 0);
    while offset < bytes.len() {
        match &bytes[offset..] {
            [b'/', b'*', ..] => (depth, offset) = (depth + 1, offset + 2),
            [b'*', b'/', ..] => (depth, offset) = (depth - 1, offset + 2),
            _ => offset += 1,
        }
        if depth == 0 {
            return (TokenKind::BlockComment, offset);
        }
    }
    (TokenKind::OpenComment, rest.len())
}

/// Returns kind and length of a text of one or several lines; `\` escapes the next character.
fn quoted(rest: &str) -> (TokenKind, usize) {
    let lines = rest.starts_with("\"\"\"");
    let (end, mut offset) = if lines { ("\"\"\"", 3) } else { ("\"", 1) };
    while let Some(c) = rest[offset..].chars().next() {
        match c {
            '\\' => offset += escape(&rest[offset..]),
            '"' if rest[offset..].starts_with(end) => {
                return (TokenKind::Quoted, offset + end.len());
            }
            c if is_newline(c) && !lines => break,
            c => offset += c.len_utf8(),
        }
    }
    (TokenKind::OpenText, offset)
}

/// Returns the length of the escape at the start of `rest`; all blanks after a `\` are one.
pub(super) fn escape(rest: &str) -> usize {
    match run(&rest[1..], is_blank) {
        0 => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        blanks => 1 + blanks,
    }
}

/// `#"…"#`, `#true`, or a meaningless `#`.
fn hash(rest: &str) -> (TokenKind, usize) {
    let hashes = run(rest, |c| c == '#');
    let body = &rest[hashes..];
    if body.starts_with('"') {
        return raw(rest, hashes);
    }
    match run(body, is_word) {
        0 => (TokenKind::Stray, hashes),
        length => (TokenKind::Keyword, hashes + length),
    }
}

fn raw(rest: &str, hashes: usize) -> (TokenKind, usize) {
    let lines = rest[hashes..].starts_with("\"\"\"");
    let quotes = if lines { 3 } else { 1 };
    let end = format!("{}{}", "\"".repeat(quotes), &rest[..hashes]);
    let mut offset = hashes + quotes;
    while let Some(c) = rest[offset..].chars().next() {
        match c {
            '"' if rest[offset..].starts_with(&end) => return (TokenKind::Raw, offset + end.len()),
            c if is_newline(c) && !lines => break,
            c => offset += c.len_utf8(),
        }
    }
    (TokenKind::OpenText, offset)
}

fn newline(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { rest.chars().next().map_or(0, char::len_utf8) }
}

pub(super) fn run(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

pub(super) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Returns whether a character ends a line; `\r\n` is one line break.
pub(super) fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_word(c: char) -> bool {
    let mark = matches!(c, '\\' | '/' | '(' | ')' | '{' | '}' | '[' | ']' | ';' | '"' | '#' | '=');
    !mark && !is_space(c) && !is_newline(c)
}
