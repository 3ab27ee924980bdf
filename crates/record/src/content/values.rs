//! Values in Python literals, under a key of JSON, or as the whole text.

use std::ops::Range;

use serde_json::Value;

/// Fields and places of values: of `key` in JSON, of string literals in Python, otherwise the whole
/// text.
pub fn places(member: &str, text: &str, key: Option<&str>) -> Vec<(String, Range<usize>)> {
    match key {
        Some(key) => in_json(text, key).into_iter().map(|range| (key.to_owned(), range)).collect(),
        None if member.rsplit_once('.').is_some_and(|(_, ending)| ending == "py") => literals(text)
            .into_iter()
            .map(|range| (name_before(text, range.start), range))
            .collect(),
        None => {
            let trimmed = text.trim();
            let start = text.len() - text.trim_start().len();
            vec![("text".to_owned(), start..start + trimmed.len())]
        }
    }
}

fn name_before(text: &str, position: usize) -> String {
    let line = text[..position].rsplit('\n').next().unwrap_or_default();
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
    let (bytes, mut contents, mut position) = (text.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'#' => {
                position += text[position..].find('\n').unwrap_or(text.len() - position);
            }
            b'"' | b'\'' => {
                let prefix = prefix(&text[..position]);
                let (content, end, plain) = literal(text, position, prefix.contains(['r', 'R']));
                if plain && !prefix.contains(['b', 'B', 'f', 'F']) {
                    contents.push(content);
                }
                position = end;
            }
            _ => position += 1,
        }
    }
    contents
}

fn prefix(before: &str) -> &str {
    let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    &before[start..]
}

/// Range of the content and end of the literal with its first quote at `open`; true if plain.
fn literal(text: &str, open: usize, raw: bool) -> (Range<usize>, usize, bool) {
    let quote = &text[open..=open];
    let triple = text[open..].starts_with(&quote.repeat(3));
    let end = if triple { quote.repeat(3) } else { quote.to_owned() };
    let start = open + end.len();
    let (mut position, mut plain) = (start, !triple);
    let bytes = text.as_bytes();
    while position < bytes.len() {
        if text.is_char_boundary(position) && text[position..].starts_with(&*end) {
            return (start..position, position + end.len(), plain);
        }
        match bytes[position] {
            b'\\' => {
                plain &= raw;
                position += 1;
            }
            // An unterminated literal: skip the rest of the line.
            b'\n' if !triple => return (start..position, position, false),
            _ => {}
        }
        position += 1;
    }
    (start..text.len(), text.len(), false)
}

fn in_json(text: &str, key: &str) -> Option<Range<usize>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let value = value.get(key)?.as_str()?;
    let (bytes, mut depth, mut position, mut last_key) = (text.as_bytes(), 0_usize, 0, None);
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (content, end, _) = literal(text, position, false);
                let is_key = text[end..].trim_start().starts_with(':');
                if depth == 1 && is_key {
                    last_key = serde_json::from_str::<String>(&text[position..end]).ok();
                } else if depth == 1
                    && last_key.as_deref() == Some(key)
                    && text[content.clone()] == *value
                {
                    return Some(content);
                }
                position = end;
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    None
}
