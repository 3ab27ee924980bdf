//! Rust source without comments, tests and, optionally, strings.

/// Two forms of a source file, with line breaks kept.
pub struct RustText {
    /// Text without comments, strings and tests.
    pub code: String,
    /// Text without comments and tests.
    pub text: String,
    /// Number of lines outside tests.
    pub lines: usize,
}

impl RustText {
    pub fn new(source: &str) -> Self {
        let (mut code, mut text) = without_comments(source);
        let total = source.lines().count();
        let mut test_lines = 0;
        while let Some(start) = code.find("#[cfg(test)]") {
            let end = item_end(&code, start);
            test_lines += code[start..end].lines().count();
            code.replace_range(start..end, &blank(&code[start..end]));
            text.replace_range(start..end, &blank(&text[start..end]));
        }
        Self { code, text, lines: total - test_lines }
    }
}

/// Replaces every byte except line breaks by a space, so that offsets stay valid.
fn blank(part: &str) -> String {
    part.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
}

/// Returns the end of an item: after its block or the first `;`, but not after the block around it.
fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[start..].char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            // Such as the end of a struct whose last field is for tests.
            '}' | ']' | ')' if depth == 0 => return start + at,
            '}' | ']' | ')' => {
                depth -= 1;
                if depth == 0 && c == '}' {
                    return start + at + 1;
                }
            }
            ';' if depth == 0 => return start + at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the source without comments and strings, and without comments only.
fn without_comments(source: &str) -> (String, String) {
    let (mut code, mut text) = (String::new(), String::new());
    let mut rest = source;
    while !rest.is_empty() {
        let (kind, len) = token(rest);
        let (part, after) = rest.split_at(len);
        code.push_str(&if kind == Kind::Code { part.to_owned() } else { blank(part) });
        text.push_str(&if kind == Kind::Comment { blank(part) } else { part.to_owned() });
        rest = after;
    }
    (code, text)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Code,
    Comment,
    String,
}

/// Returns the kind of the first token and its length in bytes.
pub fn token(source: &str) -> (Kind, usize) {
    if source.starts_with("//") {
        return (Kind::Comment, source.find('\n').unwrap_or(source.len()));
    }
    if source.starts_with("/*") {
        return (Kind::Comment, block_comment(source));
    }
    if let Some((prefix, hashes)) = raw_string(source) {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = prefix + hashes + '"'.len_utf8();
        return (
            Kind::String,
            source[start..].find(&end).map_or(source.len(), |at| start + at + end.len()),
        );
    }
    match source.as_bytes()[0] {
        b'"' => (Kind::String, quoted(source, '"')),
        // A character, not a lifetime, is closed after one character or escape.
        b'\'' if source[1..].starts_with('\\') || source[1..].chars().nth(1) == Some('\'') => {
            (Kind::String, quoted(source, '\''))
        }
        // A whole word, so that its `r` starts no raw string.
        b if b.is_ascii_alphanumeric() || b == b'_' => (
            Kind::Code,
            source.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(source.len()),
        ),
        _ => (Kind::Code, source.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Returns the length of a block comment, which can contain others.
fn block_comment(source: &str) -> usize {
    let bytes = source.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match (&bytes[at..], depth) {
            ([b'/', b'*', ..], _) => (depth, at) = (depth + 1, at + 2),
            ([b'*', b'/', ..], 1) => return at + 2,
            ([b'*', b'/', ..], _) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    source.len()
}

/// Returns the length of the prefix and the number of `#` of a raw string, if one starts here.
fn raw_string(source: &str) -> Option<(usize, usize)> {
    ["r", "br", "cr"].into_iter().find_map(|prefix| {
        let rest = source.strip_prefix(prefix)?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        rest[hashes..].starts_with('"').then_some((prefix.len(), hashes))
    })
}

/// Returns the length up to the next unescaped `quote`.
fn quoted(source: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in source.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    source.len()
}

#[test]
fn leaves_out_tests_comments_and_strings() {
    let cases = [
        ("#[cfg(test)]\nfn f() -> [u8; 4] { g(); }\nkept", "kept"),
        ("struct S { a: u8, #[cfg(test)] b: u8 } kept", "struct S { a: u8, } kept"),
        ("#[cfg(test)] use a; kept", "kept"),
        ("/* a /* b */ c */ kept", "kept"),
        (r##"x(br"\", cr#"""#, r"a") kept"##, "x( , , ) kept"),
        ("'\"' kept // \"", "kept"),
    ];
    for (source, expected) in cases {
        let code = RustText::new(source).code;
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&code), words(expected), "{source}");
    }
}
