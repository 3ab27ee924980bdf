//! Escaping of names and sentences for GitHub's Markdown.

use std::fmt::Write as _;

/// The middle of longer names is omitted.
const LONGEST: usize = 160;

/// Formats text as code in a sentence or table cell: plain names between backticks, others in HTML
/// with markup characters escaped by number.
pub fn code(text: &str) -> String {
    let text = shortened(text);
    let plain = |c: char| c.is_alphanumeric() || " -_./+:@=,~#$()…".contains(c);
    let edge = |c: Option<char>| c.is_some_and(|c| c != ' ');
    if text.chars().all(plain) && edge(text.chars().next()) && edge(text.chars().next_back()) {
        format!("`{text}`")
    } else {
        format!("<code>{}</code>", numbered(&text))
    }
}

/// Formats text as code for `<summary>`, which does not parse Markdown.
pub fn html_code(text: &str) -> String {
    format!("<code>{}</code>", numbered(&shortened(text)))
}

/// Formats a sentence: text between backticks, and words that mention users or link pages (`@name`,
/// `#1`, `www.a.b`), become code; the rest is escaped.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // An unpaired backtick is not markup.
        return words(text);
    }
    parts
        .iter()
        .enumerate()
        .map(|(i, part)| if i % 2 == 1 { code(part) } else { words(part) })
        .collect()
}

fn words(text: &str) -> String {
    let links =
        |word: &str| word.contains(['@', '#']) || word.contains("://") || word.contains("www.");
    let word = |word: &str| if links(word) { code(word) } else { numbered(&shortened(word)) };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Escapes markup, and control characters like `\n`.
fn numbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let escape = c.is_control().then(|| c.escape_default());
        for c in escape.map_or_else(|| c.to_string(), |e| e.to_string()).chars() {
            if c.is_ascii_punctuation() && !"-./,:;?()+=%'\"".contains(c) {
                let _ = write!(out, "&#{};", u32::from(c));
            } else {
                out.push(c);
            }
        }
    }
    out
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let half = LONGEST / 2;
    let head = text.chars().take(half);
    head.chain(std::iter::once('…')).chain(text.chars().skip(count - half)).collect()
}

const SHOWN_REQUIREMENTS: usize = 3;

/// Formats an extra's pinned requirements as a table cell.
pub fn installs(requirements: &[String]) -> String {
    let names: Vec<String> = requirements
        .iter()
        .take(SHOWN_REQUIREMENTS)
        .map(|requirement| code(required_name(requirement)))
        .collect();
    match requirements.len().saturating_sub(SHOWN_REQUIREMENTS) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Name in `name==version; marker`.
pub fn required_name(requirement: &str) -> &str {
    requirement.split(['=', '>']).next().unwrap_or(requirement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(code("lib/libx++.so.1"), "`lib/libx++.so.1`");
        assert_eq!(code("größe/数"), "`größe/数`");
    }

    #[test]
    fn escapes_markup_in_names() {
        assert_eq!(code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(code("a`b"), "<code>a&#96;b</code>");
        assert_eq!(code("</details>"), "<code>&#60;/details&#62;</code>");
        assert_eq!(code("a\nb\u{1b}"), "<code>a&#92;nb&#92;u&#123;1b&#125;</code>");
        assert_eq!(code(" a"), "<code> a</code>", "a code span would lose the space");
        assert_eq!(html_code("__a__ & b"), "<code>&#95;&#95;a&#95;&#95; &#38; b</code>");
    }

    #[test]
    fn keeps_code_spans_of_sentences_and_escapes_other_markup() {
        assert_eq!(
            prose("ignored `a|b`: a <b>file</b>"),
            "ignored <code>a&#124;b</code>: a &#60;b&#62;file&#60;/b&#62;"
        );
        assert_eq!(prose("one ` alone *x*"), "one &#96; alone &#42;x&#42;");
        assert_eq!(prose("by @somebody in #12"), "by `@somebody` in `#12`");
        assert_eq!(prose("see https://a.b or www.a.b"), "see `https://a.b` or `www.a.b`");
        assert_eq!(prose("a\nb"), "a&#92;nb");
    }

    #[test]
    fn long_names_keep_both_ends() {
        let long = format!("a{}z", "é".repeat(5000));
        let short = code(&long);
        assert!(
            short.starts_with("`aé") && short.contains("é…é") && short.ends_with("éz`"),
            "{short}"
        );
        assert_eq!(short.chars().count(), LONGEST + "`…`".chars().count());
    }
}
