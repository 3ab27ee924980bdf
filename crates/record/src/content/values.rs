//! Values in Python literals, under a key of JSON, or as the whole text.

use std::ops::Range;

use serde_json::Value;

/// Fields and places of values: of `key` in JSON, of string literals in Python, otherwise the whole
/// text.
pub fn places(member: &str, text: &str, key: Option<&str>) -> Vec<(String, Range<usize>)> {
    match key {
        Some(key) => in_json(text, key).into_iter().map(|range| (key.to_owned(), range)).collect(),
        None if member.rsplit_once('.').is_some_and(|(_, ending)| ending == "py") => {
            literals(text).into_iter().map(|at| (name_before(text, at.start), at)).collect()
        }
        None => {
            let trimmed = text.trim();
            let start = text.len() - text.trim_start().len();
            vec![("text".to_owned(), start..start + trimmed.len())]
        }
    }
}

fn name_before(text: &str, at: usize) -> String {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let before =
        line.trim_end_matches(['"', '\'']).trim_end_matches(['r', 'R', 'u', 'U']).trim_end();
    let assigned = before.strip_suffix('=').map_or("", str::trim_end);
    let assigned = assigned.split_once(':').map_or(assigned, |(name, _)| name);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let name = assigned.rsplit(|c| !word(c)).find(|part| !part.is_empty());
    name.unwrap_or("literal").to_owned()
}

/// Ranges of the contents of plain Python string literals: one line, no escapes, no prefix, outside
/// comments.
fn literals(text: &str) -> Vec<Range<usize>> {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => {
                let prefix = prefix(&text[..at]);
                let (content, end, plain) = literal(text, at, prefix.contains(['r', 'R']));
                if plain && !prefix.contains(['b', 'B', 'f', 'F']) {
                    found.push(content);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn prefix(before: &str) -> &str {
    let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    &before[start..]
}

/// Content range and end of the literal; true if plain.
fn literal(text: &str, at: usize, raw: bool) -> (Range<usize>, usize, bool) {
    let quote = &text[at..=at];
    let triple = text[at..].starts_with(&quote.repeat(3));
    let end = if triple { quote.repeat(3) } else { quote.to_owned() };
    let start = at + end.len();
    let (mut here, mut plain) = (start, !triple);
    let bytes = text.as_bytes();
    while here < bytes.len() {
        if text.is_char_boundary(here) && text[here..].starts_with(&*end) {
            return (start..here, here + end.len(), plain);
        }
        match bytes[here] {
            b'\\' => {
                plain &= raw;
                here += 1;
            }
            // An unterminated literal: skip the rest of the line.
            b'\n' if !triple => return (start..here, here, false),
            _ => {}
        }
        here += 1;
    }
    (start..text.len(), text.len(), false)
}

fn in_json(text: &str, key: &str) -> Option<Range<usize>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let wanted = value.get(key)?.as_str()?;
    let (bytes, mut depth, mut at, mut last) = (text.as_bytes(), 0_usize, 0, None);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (content, end, _) = literal(text, at, false);
                let is_key = text[end..].trim_start().starts_with(':');
                if depth == 1 && is_key {
                    last = serde_json::from_str::<String>(&text[at..end]).ok();
                } else if depth == 1
                    && last.as_deref() == Some(key)
                    && text[content.clone()] == *wanted
                {
                    return Some(content);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}
