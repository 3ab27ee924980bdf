//! Data as Python source, which the runtime imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Module with sorted mappings; `doc` is the docstring.
pub fn module(doc: &str, name: &str, value: &Value) -> String {
    format!("\"\"\"{doc}\"\"\"\n\n{}", assignment(name, value))
}

/// `NAME = …` with sorted mappings and a line break.
pub fn assignment(name: &str, value: &Value) -> String {
    let mut text = format!("{name} = ");
    literal(value, 0, &mut text);
    text.push('\n');
    text
}

/// [`assignment`] of a mapping in pieces. Pieces in `shared` are not copied: [`entry`] formats them once
/// for many modules.
pub fn pieces(
    name: &str,
    values: &Map<String, Value>,
    shared: &BTreeMap<&str, Arc<str>>,
) -> Vec<Arc<str>> {
    let (mut pieces, mut text) = (Vec::new(), format!("{name} = {{"));
    let keys: BTreeSet<&str> =
        values.keys().map(String::as_str).chain(shared.keys().copied()).collect();
    for key in &keys {
        _ = write!(text, "\n    {}: ", string(key));
        match (shared.get(key), values.get(*key)) {
            (Some(value), _) => {
                pieces.extend([std::mem::take(&mut text).into(), Arc::clone(value)]);
            }
            (None, Some(value)) => literal(value, 1, &mut text),
            (None, None) => {}
        }
        text.push(',');
    }
    text.push_str(if keys.is_empty() { "}\n" } else { "\n}\n" });
    pieces.push(text.into());
    pieces
}

/// Formats a value for an entry of the outermost mapping.
pub fn entry(value: &Value) -> String {
    let mut text = String::new();
    literal(value, 1, &mut text);
    text
}

fn literal(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => out.push_str(&string(text)),
        Value::Array(items) => {
            block(out, depth, ['[', ']'], items.iter(), |item, out| literal(item, depth + 1, out));
        }
        Value::Object(map) => block(out, depth, ['{', '}'], map.iter(), |(key, value), out| {
            out.push_str(&string(key));
            out.push_str(": ");
            literal(value, depth + 1, out);
        }),
    }
}

fn block<T>(
    out: &mut String,
    depth: usize,
    ends: [char; 2],
    items: impl Iterator<Item = T>,
    write: impl Fn(T, &mut String),
) {
    let start = out.len();
    out.push(ends[0]);
    for item in items {
        out.push('\n');
        out.push_str(&"    ".repeat(depth + 1));
        write(item, out);
        out.push(',');
    }
    if out.len() > start + 1 {
        out.push('\n');
        out.push_str(&"    ".repeat(depth));
    }
    out.push(ends[1]);
}

/// Writes JSON, which is valid Python except for surrogate pairs, which serde never writes.
fn string(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Parses a [`module`] with the name `DIST`: JSON except for three words and trailing commas.
pub fn data(text: &str) -> Option<Value> {
    let (_, literal) = text.split_once("DIST = ")?;
    serde_json::from_str(&json(literal)).ok()
}

fn json(literal: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(literal.len()), literal);
    while let Some(c) = rest.chars().next() {
        let word = |python: &'static str| rest.starts_with(python).then_some(python.len());
        if c == '"' {
            let len = string_len(rest);
            out.push_str(&rest[..len]);
            rest = &rest[len..];
        } else if let Some(len) = word("True") {
            out.push_str("true");
            rest = &rest[len..];
        } else if let Some(len) = word("False") {
            out.push_str("false");
            rest = &rest[len..];
        } else if let Some(len) = word("None") {
            out.push_str("null");
            rest = &rest[len..];
        } else {
            let last = c == ',' && rest[1..].trim_start().starts_with([']', '}']);
            out.extend((!last).then_some(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn string_len(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(offset, _)| offset + 1)
}

/// Reserved words of Python (its language reference, section 2.3.1).
pub const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Makes a Python name of a program's name: `-` becomes `_`. Other special characters, and the first
/// character of a keyword, become hexadecimal between `_`. Programs of usual names get different ones;
/// `a_b` and `a-5f-b` would not, nor `9` and `-9`.
pub fn identifier(text: &str) -> String {
    let mut out = String::new();
    let is_keyword = KEYWORDS.contains(&text);
    for (offset, c) in text.char_indices() {
        match c {
            first if is_keyword && offset == 0 => _ = write!(out, "_{:02x}_", u32::from(first)),
            'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(c),
            '-' => out.push('_'),
            // Writing to a String cannot fail.
            special => _ = write!(out, "_{:02x}_", u32::from(special)),
        }
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("_{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_literals_of_python() {
        let text = module("Doc.", "X", &json!({"b": [true, null, 3], "a": "q\"\n", "e": {}}));
        assert_eq!(
            text,
            "\"\"\"Doc.\"\"\"\n\nX = {\n    \"a\": \"q\\\"\\n\",\n    \"b\": [\n        True,\n        None,\n        3,\n    ],\n    \"e\": {},\n}\n"
        );
    }

    #[test]
    fn sorts_shared_entries_by_name() {
        let shared_value = json!({"x": {"y": ["z", {}]}, "w": []});
        let shared = BTreeMap::from([("b", entry(&shared_value).into())]);
        for values in
            [json!({"a": 1, "c": {"d": [null]}}), json!({"a": 1}), json!({"c": 1}), json!({})]
        {
            let pieces = pieces("X", values.as_object().unwrap(), &shared);
            assert!(Arc::ptr_eq(&pieces[1], &shared["b"]));
            let mut expected = values.clone();
            expected["b"] = shared_value.clone();
            assert_eq!(pieces.concat(), assignment("X", &expected));
        }
        assert_eq!(
            pieces("X", &Map::new(), &BTreeMap::new()).concat(),
            assignment("X", &json!({}))
        );
    }

    #[test]
    fn makes_distinct_identifiers() {
        assert_eq!(identifier("rocm-smi"), "rocm_smi");
        assert_eq!(identifier("a++"), "a_2b__2b_");
        assert_ne!(identifier("a_b"), identifier("a-b"));
        assert_eq!(identifier("7z"), "_7z");
        assert_eq!(identifier("import"), "_69_mport");
        assert_eq!(identifier("imports"), "imports");
    }

    #[test]
    fn reads_written_literals_back() {
        let value = json!({"a": [true, false, null, 3, "x,]\" True \\"], "b": {}, "c": [["y"], []], "é": "∞\n"});
        assert_eq!(data(&module("Doc \"quoted\".", "DIST", &value)).unwrap(), value);
        assert_eq!(data("import os\n"), None);
        assert_eq!(data("DIST = {\"a\": os}"), None);
    }
}
