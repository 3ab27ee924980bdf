//! Core metadata with another version.

use super::change::{Change, Changed};
use super::set::Set;
use crate::promote::targets::Pruning;
use base::names::{Requirement, normalized};
use base::version::Version;
use wheel::package::header::{fields, rewritten};

/// Changes `Version`, and the pins of `Requires-Dist` on promoted packages.
pub(super) fn promoted(
    member: &str,
    text: &str,
    version: &Version,
    set: &Set,
    pruning: &Pruning,
) -> Changed {
    let body = fields(text).1;
    let mut changes = Vec::new();
    let header = rewritten(&text[..text.len() - body.len()], |field| {
        let is_named = |name: &str| field.name.eq_ignore_ascii_case(name);
        let new = if is_named("Version") {
            Some(version.to_string())
        } else if is_named("Requires-Dist") {
            let requirement = pruning.requirement(&field.value);
            requirement.map(|text| set.repinned(&text).unwrap_or(text))
        } else if is_named("Provides-Extra") && pruning.drops_extra(&field.value) {
            None
        } else {
            Some(field.value.clone())
        };
        if new.as_ref() != Some(&field.value) {
            let (member, name) = (member.to_owned(), field.name.to_owned());
            changes.push(Change {
                member,
                field: name,
                from: field.value.clone(),
                to: new.clone(),
            });
        }
        new
    });
    let (body, of_readme) = pruning.readme(member, body);
    changes.extend(of_readme);
    Changed { text: header + &body, changes }
}

pub(super) fn requirements(text: &str) -> (Vec<Requirement>, Vec<String>) {
    let (fields, _) = fields(text);
    let named = |name: &'static str| {
        fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name))
    };
    let requirements =
        named("Requires-Dist").filter_map(|field| field.value.parse().ok()).collect();
    let extras = named("Provides-Extra").filter_map(|field| normalized(&field.value)).collect();
    (requirements, extras)
}
