//! METADATA and PKG-INFO with another version: header fields, each by its name.

use super::change::{Change, Changed};
use super::set::Set;
use crate::promote::targets::Pruning;
use base::names::{Requirement, normalized};
use base::version::Version;
use wheel::package::header::fields;

/// The text about another version: `Version`, and pins of `Requires-Dist` on packages that are promoted too.
/// `member` is what the file is called.
pub(super) fn promoted(
    member: &str,
    text: &str,
    version: &Version,
    set: &Set,
    pruning: &Pruning,
) -> Changed {
    let (fields, body) = fields(text);
    let mut all = Changed { text: String::with_capacity(text.len()), changes: Vec::new() };
    for field in fields {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        let new = if is("Version") {
            Some(version.to_string())
        } else if is("Requires-Dist") {
            let kept = pruning.requirement(&field.value);
            kept.map(|text| set.repinned(&text).unwrap_or(text))
        } else if is("Provides-Extra") && pruning.drops_extra(&field.value) {
            None
        } else {
            Some(field.value.clone())
        };
        let change = |to| Change {
            member: member.to_owned(),
            field: field.name.to_owned(),
            from: field.value.clone(),
            to,
        };
        match new {
            Some(new) if new == field.value => all.text += field.raw,
            Some(new) => {
                let end = if field.raw.ends_with("\r\n") { "\r\n" } else { "\n" };
                all.text.extend([field.name, ": ", &new, end]);
                all.changes.push(change(Some(new)));
            }
            None => all.changes.push(change(None)),
        }
    }
    let (body, changes) = pruning.readme(member, body);
    all.text += &body;
    all.changes.extend(changes);
    all
}

/// The requirements and extras of core metadata.
pub(super) fn requirements(text: &str) -> (Vec<Requirement>, Vec<String>) {
    let (fields, _) = fields(text);
    let of = |name: &'static str| {
        fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name))
    };
    let requirements = of("Requires-Dist").filter_map(|field| field.value.parse().ok()).collect();
    let extras = of("Provides-Extra").filter_map(|field| normalized(&field.value)).collect();
    (requirements, extras)
}
