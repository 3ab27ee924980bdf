//! Changes of one value of a JSON text, and of its bytes.

use serde_json::Value;

use crate::package_mutations::Noise;

/// Values of other types and sizes.
const VALUES: [&str; 17] = [
    "null",
    "true",
    "0",
    "-1",
    "7.5",
    "1e400",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "\"\"",
    "\"x\"",
    "\"../../x\"",
    "\"a\\u0000b\"",
    "\"\\u2028\\u202e\"",
    "[]",
    "{}",
    "[[]]",
];
/// Beyond every limit of recursion.
const DEEP: usize = 100_000;

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    AnotherValue,
    AnotherText,
    AnotherKey,
    KeyTwice,
    KeyGone,
    KeyMore,
    ElementTwice,
    ElementGone,
    Deep,
    Bit,
    Cut,
    Bytes,
}

impl Kind {
    pub const ALL: [Self; 12] = [
        Self::AnotherValue,
        Self::AnotherText,
        Self::AnotherKey,
        Self::KeyTwice,
        Self::KeyGone,
        Self::KeyMore,
        Self::ElementTwice,
        Self::ElementGone,
        Self::Deep,
        Self::Bit,
        Self::Cut,
        Self::Bytes,
    ];

    /// Returns another text for a value, if the kind applies to it.
    fn instead(self, value: &Value, noise: &mut Noise) -> Option<String> {
        let pairs = || Some(value.as_object()?.iter().map(pair).collect::<Vec<_>>());
        let elements = || Some(value.as_array()?.iter().map(Value::to_string).collect::<Vec<_>>());
        let chosen = |parts: Option<Vec<String>>, noise: &mut Noise| {
            let parts = parts.filter(|parts| !parts.is_empty())?;
            let at = noise.below(parts.len());
            Some((parts, at))
        };
        Some(match self {
            Self::AnotherValue => VALUES[noise.below(VALUES.len())].to_owned(),
            Self::AnotherText => Value::from(misspelled(value.as_str()?, noise)?).to_string(),
            Self::AnotherKey => {
                let object = value.as_object()?;
                let (_, at) = chosen(pairs(), noise)?;
                let spelled = |(index, (key, value)): (usize, (&String, &Value))| {
                    let other = misspelled(key, noise).filter(|_| index == at);
                    pair((other.as_ref().unwrap_or(key), value))
                };
                braced(&object.iter().enumerate().map(spelled).collect::<Vec<_>>())
            }
            Self::KeyTwice => {
                let (mut parts, at) = chosen(pairs(), noise)?;
                parts.push(parts[at].clone());
                braced(&parts)
            }
            Self::KeyGone => {
                let (mut parts, at) = chosen(pairs(), noise)?;
                parts.remove(at);
                braced(&parts)
            }
            Self::KeyMore => {
                let mut parts = pairs()?;
                parts.push("\"one more\":0".to_owned());
                braced(&parts)
            }
            Self::ElementTwice => {
                let (mut parts, at) = chosen(elements(), noise)?;
                parts.push(parts[at].clone());
                format!("[{}]", parts.join(","))
            }
            Self::ElementGone => {
                let (mut parts, at) = chosen(elements(), noise)?;
                parts.remove(at);
                format!("[{}]", parts.join(","))
            }
            Self::Deep => "[".repeat(DEEP) + &"]".repeat(DEEP),
            Self::Bit | Self::Cut | Self::Bytes => return None,
        })
    }
}

/// Returns the document with one change of this kind.
pub fn mutant(kind: Kind, text: &str, document: &Value, noise: &mut Noise) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    match kind {
        Kind::Bit => {
            let at = noise.below(bytes.len());
            bytes[at] ^= 1 << noise.below(8);
        }
        Kind::Cut => bytes.truncate(noise.below(text.trim_end().len())),
        Kind::Bytes => noise.mutate(&mut bytes),
        _ => {
            let mut nodes = Vec::new();
            collect(document, &mut nodes);
            // Not every value has a key, an element or a letter.
            bytes = loop {
                let node = nodes[noise.below(nodes.len())];
                if let Some(instead) = kind.instead(node, noise) {
                    break rendered(document, node, &instead).into_bytes();
                }
            };
        }
    }
    bytes
}

/// All values of a document.
fn collect<'v>(value: &'v Value, nodes: &mut Vec<&'v Value>) {
    nodes.push(value);
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, nodes)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, nodes)),
        _ => {}
    }
}

/// Returns the text of a document with another text for one of its values.
fn rendered(value: &Value, node: &Value, instead: &str) -> String {
    if std::ptr::eq(value, node) {
        return instead.to_owned();
    }
    match value {
        Value::Array(values) => {
            let values = values.iter().map(|value| rendered(value, node, instead));
            format!("[{}]", values.collect::<Vec<_>>().join(","))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(&**key), rendered(value, node, instead))
            };
            braced(&fields.iter().map(field).collect::<Vec<_>>())
        }
        other => other.to_string(),
    }
}

fn braced(pairs: &[String]) -> String {
    format!("{{{}}}", pairs.join(","))
}

fn pair((key, value): (&String, &Value)) -> String {
    format!("{}:{value}", Value::from(&**key))
}

/// Changes one letter or digit.
fn misspelled(text: &str, noise: &mut Noise) -> Option<String> {
    let places: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).map(|(at, _)| at).collect();
    let at = *places.get(noise.below(places.len().max(1)))?;
    let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
    Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
}
