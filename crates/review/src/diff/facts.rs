use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::FieldChange;
use base::python_literal::data;

pub(super) const FILE: &str = "_dist_info.py";

/// Compares by top-level key; `None` without changes or data.
pub(super) fn difference(old: &str, new: &str) -> Option<Vec<FieldChange>> {
    let (Value::Object(old), Value::Object(new)) = (data(old)?, data(new)?) else { return None };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changes = keys.into_iter().filter_map(|key| {
        let (mut before, mut after) = (Said::new(old.get(key)), Said::new(new.get(key)));
        before.split_where_shared(&mut after);
        let only = |one: &Said, other: &Said| {
            one.values.difference(&other.values).cloned().collect::<Vec<_>>()
        };
        let (removed, added) = (only(&before, &after), only(&after, &before));
        (removed != added).then(|| FieldChange { field: key.replace('_', " "), removed, added })
    });
    let changes: Vec<FieldChange> = changes.collect();
    (!changes.is_empty()).then_some(changes)
}

#[derive(Default)]
struct Said {
    values: BTreeSet<String>,
    /// Objects of scalars, shown as one value unless both sides have them.
    records: BTreeMap<String, BTreeMap<String, String>>,
}

impl Said {
    fn new(value: Option<&Value>) -> Self {
        let mut values = Self::default();
        if let Some(value) = value {
            values.collect("", value);
        }
        values
    }

    fn collect(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(map)
                if !path.is_empty() && map.values().all(|v| !v.is_object() && !v.is_array()) =>
            {
                self.records.insert(
                    path.to_owned(),
                    map.iter()
                        .filter(|(_, value)| !value.is_null())
                        .map(|(key, value)| (key.clone(), word(value)))
                        .collect(),
                );
            }
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| self.collect(&below(path, key), value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(path, item)),
            Value::Null => {}
            Value::String(_) | Value::Bool(_) | Value::Number(_) => self.insert(path, &word(value)),
        }
    }

    fn insert(&mut self, path: &str, what: &str) {
        self.values.insert(if path.is_empty() {
            what.to_owned()
        } else {
            format!("{path}: {what}")
        });
    }

    fn split_where_shared(&mut self, other: &mut Self) {
        let (ours, theirs) =
            (std::mem::take(&mut self.records), std::mem::take(&mut other.records));
        let insert_records = |facts: &mut Self,
                              records: &BTreeMap<String, BTreeMap<String, String>>,
                              shared: &BTreeMap<_, _>| {
            for (path, record) in records {
                if shared.contains_key(path) {
                    for (key, word) in record {
                        facts.insert(&below(path, key), word);
                    }
                } else {
                    facts.insert(
                        path,
                        &record
                            .iter()
                            .map(|(key, word)| format!("{key} {word}"))
                            .collect::<Vec<_>>()
                            .join(", "),
                    );
                }
            }
        };
        insert_records(self, &ours, &theirs);
        insert_records(other, &theirs, &ours);
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path} {key}") }
}

fn word(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        _ => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use base::python_literal;

    #[test]
    fn differences_are_told_by_key() {
        let text = |value: Value| python_literal::module("", "DIST", &value);
        let old =
            text(json!({"extras": {"a": ["x==1", "y==1"], "b": ["z==1"]}, "same": 1, "on": true}));
        let new = text(json!({"extras": {"a": ["x==1"], "c": ["z==1"]}, "same": 1, "on": false}));
        let strings = |all: &[&str]| all.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        let change = |field: &str, removed: &[&str], added: &[&str]| FieldChange {
            field: field.to_owned(),
            removed: strings(removed),
            added: strings(added),
        };
        assert_eq!(
            difference(&old, &new).unwrap(),
            [
                change("extras", &["a: y==1", "b: z==1"], &["c: z==1"]),
                change("on", &["yes"], &["no"])
            ]
        );
        assert_eq!(difference(&old, &old), None);
        let new = text(
            json!({"extras": {"a": ["x==1", "y==1"], "b": ["z==1"]}, "same": {"s": {"p": "c", "n": null}}, "on": true}),
        );
        assert_eq!(difference(&old, &new).unwrap(), [change("same", &["1"], &["s: p c"])]);
    }
}
