//! Replaces a version in Python literals, under a key of JSON, or as the whole text.

use std::ops::Range;

use serde_json::Value;

use super::change::{Change, Changed};

/// Returns the new value, if the value holds the version.
pub(super) type NewValue<'n> = &'n dyn Fn(&str) -> Option<String>;

/// Replaces values: of `key` in JSON, of string literals in Python, otherwise the whole text.
pub(super) fn promoted(member: &str, text: &str, key: Option<&str>, new: NewValue<'_>) -> Changed {
    let found: Vec<(String, Range<usize>)> = match key {
        Some(key) => in_json(text, key).into_iter().map(|range| (key.to_owned(), range)).collect(),
        None if member.rsplit_once('.').is_some_and(|(_, ending)| ending == "py") => {
            literals(text).into_iter().map(|at| (name_before(text, at.start), at)).collect()
        }
        None => {
            let trimmed = text.trim();
            let start = text.len() - text.trim_start().len();
            vec![("text".to_owned(), start..start + trimmed.len())]
        }
    };
    let mut all = Changed::default();
    let mut done = 0;
    for (field, range) in found {
        let old = &text[range.clone()];
        if let Some(new) = new(old) {
            all.text += &text[done..range.start];
            all.text += &new;
            done = range.end;
            all.changes.push(Change::new(member, field, old, new));
        }
    }
    all.text += &text[done..];
    all
}

/// The variable or argument that a literal is assigned to.
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

/// Range of the content of the literal at `at`, its end, and whether it is plain.
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

/// Range of the text at `key` of the document's object.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn new(value: &str) -> Option<String> {
        (value == "7.1a1").then(|| "7.1".to_owned())
    }

    #[test]
    fn literals_of_python_are_values_and_nothing_else_is() {
        let text = "# '7.1a1'\n\"\"\"7.1a1\"\"\"\n__version__: str = '7.1a1'\nx = \"7.1a1.x\"  # 7.1a1\nf(check_version=r'7.1a1', b'7.1a1', f\"7.1a1\", '\\'7.1a1')\ny = 'it''7.1a1'\n";
        let done = promoted("a/version.py", text, None, &new);
        let expected = text
            .replacen("str = '7.1a1'", "str = '7.1'", 1)
            .replacen("r'7.1a1'", "r'7.1'", 1)
            .replacen("'it''7.1a1'", "'it''7.1'", 1);
        assert_eq!(done.text, expected);
        let fields: Vec<&str> = done.changes.iter().map(|c| c.field.as_str()).collect();
        assert_eq!(fields, ["__version__", "check_version", "literal"]);
        for torn in ["x = '7.1a1", "x = '7.1a1\ny = 1\n", "x = '''7.1a1", "x = 'é\\"] {
            assert_eq!(promoted("a.py", torn, None, &new).text, torn);
        }
    }

    #[test]
    fn a_key_of_json_is_one_value() {
        let text = "{ \"of\": {\"v\": \"7.1a1\"}, \"w\": \"7.1a1\",\n  \"v\" : \"7.1a1\", \"l\": [\"v\", \"7.1a1\"] }";
        let done = promoted("a.json", text, Some("v"), &new);
        assert_eq!(done.text, text.replacen("\"v\" : \"7.1a1\"", "\"v\" : \"7.1\"", 1));
        assert_eq!(promoted("a.json", text, Some("x"), &new).text, text);
        assert_eq!(promoted("a.json", "{", Some("v"), &new).text, "{");
    }

    #[test]
    fn a_text_is_a_value_as_a_whole() {
        assert_eq!(promoted(".info/version", " 7.1a1\n", None, &new).text, " 7.1\n");
        assert_eq!(promoted(".info/version", "7.1a1-5\n", None, &new).text, "7.1a1-5\n");
    }
}
