//! Facts of metadata: each a class, a name and values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base::names::Requirement;
use check::Finished;
use manifest::LedgerClass;

/// Values of each fact. Their order has no meaning.
pub(super) type Facts = BTreeMap<(LedgerClass, String), BTreeSet<String>>;

/// Facts of METADATA or PKG-INFO, of WHEEL, and of commands.
pub(super) fn facts(finished: &Finished) -> Facts {
    let Finished { metadata, header, .. } = finished;
    let mut facts = Facts::new();
    let mut add = |class, name: &str, value: String| {
        facts.entry((class, name.to_owned())).or_default().insert(value);
    };
    for (field, value) in metadata.header().fields() {
        match &*field.to_ascii_lowercase() {
            // Packages are paired by it, in any spelling.
            "name" => {}
            "requires-dist" => {
                let (name, text) = requirement(value);
                add(LedgerClass::Requirement, &name, text);
            }
            "provides-extra" => add(LedgerClass::Extra, value, "offered".to_owned()),
            _ => add(LedgerClass::Metadata, field, value.replace('\n', " ")),
        }
    }
    if let Some(text) = metadata.described().description {
        add(LedgerClass::Metadata, "Description", text.text);
    }
    for tag in header.all("Tag") {
        add(LedgerClass::Tag, "Tag", tag);
    }
    for field in ["Generator", "Root-Is-Purelib", "Build"] {
        for value in header.all(field) {
            add(LedgerClass::Metadata, field, value);
        }
    }
    for (name, object) in &finished.entry_points {
        add(LedgerClass::Command, name, object.clone());
    }
    facts
}

/// Name and normal form of a requirement, or its text as both.
fn requirement(text: &str) -> (String, String) {
    let Ok(it) = text.parse::<Requirement>() else { return (text.to_owned(), text.to_owned()) };
    let Some(versions) = it.versions else { return (it.name, it.text) };
    let mut versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    versions.sort_unstable();
    let mut normal = it.name.clone();
    if !it.extras.is_empty() {
        let _ = write!(normal, "[{}]", it.extras.join(","));
    }
    normal += &versions.join(",");
    if let Some((_, marker)) = text.split_once(';') {
        let words: Vec<&str> = marker.split_whitespace().collect();
        let _ = write!(normal, "; {}", words.join(" ").replace('\'', "\""));
    }
    (it.name, normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_of_a_requirement_has_no_meaning() {
        let same = |one: &str, other: &str| assert_eq!(requirement(one), requirement(other));
        same("A.b (>=1,<2)", "a-b<2,>=1");
        same("a==1 ; extra == 'x'", "a == 1; extra == \"x\"");
        assert_ne!(requirement("a==1"), requirement("a==1.1"));
    }
}
