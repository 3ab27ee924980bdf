//! Texts in quotes: escapes, and the indentation of texts of several lines.

use std::ops::Range;

use super::token::{escape, is_blank, is_newline, is_space, run};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
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
}

/// Decodes a token in quotes; `raw` means without escapes.
///
/// # Errors
/// The first fault, as bytes of `token`.
pub(super) fn decode(token: &str, raw: bool) -> Result<String, Fault> {
    let hashes = run(token, |c| c == '#');
    let quotes =
        if token[hashes..].starts_with("\"\"\"") && token.len() >= 6 + 2 * hashes { 3 } else { 1 };
    let from = hashes + quotes;
    let body = &token[from..token.len() - from];
    if quotes == 3 {
        return lines(body, from, raw);
    }
    if raw { Ok(body.to_owned()) } else { unescaped(body, from) }
}

fn lines(body: &str, from: usize, raw: bool) -> Result<String, Fault> {
    if !body.starts_with(is_newline) {
        return Err(Fault::FirstLine(0..from));
    }
    // Blanks after a `\` are neither indentation nor line breaks.
    let (joined, origin) = if raw { (body.to_owned(), Vec::new()) } else { without_left_out(body) };
    let lines = split(&joined);
    let place = |at: usize, length: usize| {
        let start = origin.get(at).copied().unwrap_or(at);
        from + start..from + start + length
    };
    let (&(at, indentation), inner) = lines.split_last().unwrap_or((&(0, ""), &[]));
    if let Some(other) = indentation.find(|c| !is_space(c)) {
        return Err(Fault::LastLine(place(at + other, first(&indentation[other..]))));
    }
    let mut text = String::with_capacity(joined.len());
    for (number, &(at, line)) in inner.iter().skip(1).enumerate() {
        if number > 0 {
            text.push('\n');
        }
        if line.chars().all(is_space) {
            continue;
        }
        let Some(line) = line.strip_prefix(indentation) else {
            return Err(Fault::Indentation(place(at, run(line, is_space).max(first(line)))));
        };
        text.push_str(line);
    }
    // Joined lines lose the places of escapes: the whole text is named.
    if raw { Ok(text) } else { unescaped(&text, 0).map_err(|_| Fault::Escape(0..from)) }
}

fn first(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn split(text: &str) -> Vec<(usize, &str)> {
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(c) = text[at..].chars().next() {
        let length = if text[at..].starts_with("\r\n") { 2 } else { c.len_utf8() };
        if is_newline(c) {
            lines.push((start, &text[start..at]));
            start = at + length;
        }
        at += length;
    }
    lines.push((start, &text[start..]));
    lines
}

/// The text without `\` and the blanks behind it, and for each byte left where it was.
fn without_left_out(body: &str) -> (String, Vec<usize>) {
    let (mut kept, mut origin, mut at) = (String::with_capacity(body.len()), Vec::new(), 0);
    while let Some(c) = body[at..].chars().next() {
        let length = if c == '\\' { escape(&body[at..]) } else { c.len_utf8() };
        let part = &body[at..at + length];
        if c != '\\' || !part[1..].starts_with(is_blank) {
            kept.push_str(part);
            origin.extend(at..at + length);
        }
        at += length;
    }
    (kept, origin)
}

fn unescaped(body: &str, from: usize) -> Result<String, Fault> {
    let (mut text, mut at) = (String::with_capacity(body.len()), 0);
    while let Some(next) = body[at..].find('\\') {
        text.push_str(&body[at..at + next]);
        at += next;
        let (meant, length) =
            character(&body[at..]).map_err(|(make, length)| make(from + at..from + at + length))?;
        text.extend(meant);
        at += length;
    }
    text.push_str(&body[at..]);
    Ok(text)
}

type Refused = (fn(Range<usize>) -> Fault, usize);

fn character(rest: &str) -> Result<(Option<char>, usize), Refused> {
    let meant = match rest[1..].chars().next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('s') => ' ',
        Some(same @ ('\\' | '"')) => same,
        Some('u') => return code_point(rest),
        Some(c) if is_blank(c) => return Ok((None, escape(rest))),
        Some(other) => return Err((Fault::Escape, 1 + other.len_utf8())),
        None => return Err((Fault::Escape, 1)),
    };
    Ok((Some(meant), 2))
}

fn code_point(rest: &str) -> Result<(Option<char>, usize), Refused> {
    let digits = rest[2..].strip_prefix('{').and_then(|digits| digits.split_once('}'));
    let Some((digits, _)) = digits else { return Err((Fault::CodePoint, 2)) };
    let hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let meant = u32::from_str_radix(digits, 16).ok().filter(|_| hex).and_then(char::from_u32);
    let length = 4 + digits.len();
    meant.map(|c| (Some(c), length)).ok_or((Fault::CodePoint, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(token: &str) -> Result<String, Fault> {
        decode(token, token.starts_with('#'))
    }

    #[test]
    fn escapes_and_raw_texts() {
        assert_eq!(text(r#""a\tb\"\\\u{e9}\s\n""#).unwrap(), "a\tb\"\\\u{e9} \n");
        assert_eq!(text("\"a\\  \n  b\"").unwrap(), "ab");
        assert_eq!(text(r##"#"a\d"#"##).unwrap(), "a\\d");
        assert_eq!(text("\"\"").unwrap(), "");
        assert_eq!(text("##\"\"##").unwrap(), "");
        assert_eq!(text(r#""a\d""#), Err(Fault::Escape(2..4)));
        assert_eq!(text(r#""\u{d800}""#), Err(Fault::CodePoint(1..9)));
        assert_eq!(text(r#""\u12""#), Err(Fault::CodePoint(1..3)));
    }

    #[test]
    fn lines_lose_the_indentation_of_the_last_one() {
        assert_eq!(text("\"\"\"\n  a\n    b\n\n  c\n  \"\"\"").unwrap(), "a\n  b\n\nc");
        assert_eq!(text("\"\"\"\r\n a\r\n b\r\n \"\"\"").unwrap(), "a\nb");
        assert_eq!(text("\"\"\"\n  a \\\n     b\n  \"\"\"").unwrap(), "a b");
        assert_eq!(text("#\"\"\"\n  a\\\n  \"\"\"#").unwrap(), "a\\");
        assert_eq!(text("\"\"\"\n\"\"\"").unwrap(), "");
        assert_eq!(text("\"\"\"a\n\"\"\""), Err(Fault::FirstLine(0..3)));
        assert_eq!(text("\"\"\"\n a\"\"\""), Err(Fault::LastLine(5..6)));
        assert_eq!(text("\"\"\"\n  a\n b\n  \"\"\""), Err(Fault::Indentation(8..9)));
    }
}
