//! Escaping of characters that affect a terminal.

use std::borrow::Cow;

/// Escapes control characters, line breaks, and marks that reverse or hide text as `\u{1b}`. Other
/// characters stay, so that names can be copied.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_active(c) || matches!(c, '\n' | '\t'))
}

/// Escapes like [`printable`], but keeps line breaks and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_active)
}

/// Matches controls, bidirectional marks (Unicode Standard Annex 9, section 2), and invisible
/// operators and tags (Unicode Technical Standard 39, section 3.1). `\n`, `\t` and the joiners
/// U+200C and U+200D are excluded, because text and emoji need them.
pub fn is_active(c: char) -> bool {
    let control = c.is_control() && c != '\n' && c != '\t';
    control
        || matches!(
            c,
            '\u{061c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if hidden(c) => out.push_str("\\n"),
            '\t' if hidden(c) => out.push_str("\\t"),
            c if hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(printable("a\u{1b}[31mb\u{7}"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(printable("a\nb\r\tc\u{9b}d"), "a\\nb\\u{d}\\tc\\u{9b}d");
        assert_eq!(printable("x\u{202e}gnp.\u{2066}y"), "x\\u{202e}gnp.\\u{2066}y");
        assert_eq!(printable("line\u{2028}\u{feff}\u{200b}"), "line\\u{2028}\\u{feff}\\u{200b}");
        assert_eq!(printable_lines("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
    }

    #[test]
    fn keeps_harmless_text() {
        let text = "größe/数 libx++.so `$ORIGIN` → e\u{301} 👩\u{200d}🔬";
        assert!(matches!(printable(text), Cow::Borrowed(printed) if printed == text));
    }
}
