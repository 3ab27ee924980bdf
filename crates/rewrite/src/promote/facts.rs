//! Facts of packages about themselves: `_dist_info.py` and the links of device wheels.

use std::collections::BTreeMap;

use serde_json::Value;

use super::change::{Change, Changed};
use super::set::Set;
use super::targets::{Pruning, Targets};
use base::names::Requirement;
use base::text::markdown::{code, installs};

use record::content::facts::rewrite;
pub(super) use record::content::facts::{FILE, read};

/// Facts of the module `text` with the new version and, in a selector, only kept targets; also
/// changes of the readme.
pub(super) fn promoted(
    member: &str,
    text: &str,
    old: &Value,
    set: &Set,
    targets: &Targets,
) -> Option<(Changed, Pruning)> {
    let (mut facts, mut changes) = (old.clone(), Vec::new());
    let lines = prune(member, &mut facts, targets, &mut changes);
    if let Some(Value::String(version)) = facts.get_mut("version") {
        changes.push(Change::new(member, "version", version.clone(), set.to.as_str()));
        *version = set.to.to_string();
    }
    for field in ["requires", "extras"] {
        let Some(value) = facts.get_mut(field) else { continue };
        each_text(value, field, &mut |field, text| {
            if let Some(new) = set.repinned(text) {
                changes.push(Change::new(member, field, std::mem::replace(text, new.clone()), new));
            }
        });
    }
    Some((Changed { text: rewrite(text, &facts)?, changes }, Pruning::of_lines(lines)))
}

/// Calls `see` for each text in a value, with the keys that lead to it.
fn each_text(value: &mut Value, field: &str, see: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => see(field, text),
        Value::Array(items) => {
            for item in items {
                each_text(item, field, see);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                each_text(item, &format!("{field}.{key}"), see);
            }
        }
        _ => {}
    }
}

/// Distinct targets of a selector, in its order.
pub(super) fn targets(facts: &Value) -> Vec<String> {
    let lists = facts.get("targets").and_then(Value::as_object);
    let values =
        lists.into_iter().flat_map(|lists| lists.values()).filter_map(Value::as_array).flatten();
    let mut targets: Vec<String> = Vec::new();
    for target in values.filter_map(Value::as_str) {
        if !targets.iter().any(|known| known == target) {
            targets.push(target.to_owned());
        }
    }
    targets
}

/// Removes targets that are not kept; returns the changed lines of the readme.
fn prune(
    member: &str,
    facts: &mut Value,
    targets: &Targets,
    changes: &mut Vec<Change>,
) -> BTreeMap<String, Option<String>> {
    let targets_of_package = self::targets(facts);
    let goes = |target: &str| targets.drops(target);
    if targets_of_package.len() < 2 || !targets_of_package.iter().any(|target| goes(target)) {
        return BTreeMap::new();
    }
    let default = facts.get("default_target").and_then(Value::as_str).map(str::to_owned);
    let lists = facts.get_mut("targets").and_then(Value::as_object_mut);
    let mut common: Vec<Vec<String>> = Vec::new();
    for (system, list) in lists.into_iter().flatten() {
        let Some(list) = list.as_array_mut() else { continue };
        strip(member, &format!("targets.{system}"), list, goes, changes);
        common.push(list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    if let Some(old) = default.filter(|target| goes(target)) {
        // The order of a build: a target that every system has is first.
        common.retain(|list| !list.is_empty());
        let in_all = targets_of_package
            .iter()
            .map(String::as_str)
            .filter(|t| common.iter().all(|list| list.iter().any(|o| o == t)));
        let new = targets
            .first(in_all)
            .or_else(|| targets.first(targets_of_package.iter().map(String::as_str)));
        if let (Some(new), Some(field)) = (new, facts.get_mut("default_target")) {
            changes.push(Change::new(member, "default_target", old, new));
            *field = new.into();
        }
    }
    prune_required(member, facts, targets, changes);
    prune_extras(member, facts, targets, changes)
}

fn goes(requirement: &str, targets: &Targets) -> bool {
    let name = requirement.parse::<Requirement>().map(|requirement| requirement.name);
    name.is_ok_and(|name| targets.target_of(&name).is_some_and(|target| targets.drops(target)))
}

fn prune_required(member: &str, facts: &mut Value, targets: &Targets, changes: &mut Vec<Change>) {
    let Some(list) = facts.get_mut("requires").and_then(Value::as_array_mut) else { return };
    strip(member, "requires", list, |text| goes(text, targets), changes);
}

fn strip(
    member: &str,
    field: &str,
    list: &mut Vec<Value>,
    goes: impl Fn(&str) -> bool,
    changes: &mut Vec<Change>,
) {
    list.retain(|item| {
        let dropped = item.as_str().filter(|text| goes(text));
        changes.extend(dropped.map(|text| Change::removal(member, field, text)));
        dropped.is_none()
    });
}

fn prune_extras(
    member: &str,
    facts: &mut Value,
    targets: &Targets,
    changes: &mut Vec<Change>,
) -> BTreeMap<String, Option<String>> {
    let mut lines = BTreeMap::new();
    let Some(extras) = facts.get_mut("extras").and_then(Value::as_object_mut) else { return lines };
    let row = |extra: &str, list: &Value| {
        let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        let list: Vec<String> = texts.map(str::to_owned).collect();
        format!("| {} | {} |", code(extra), installs(&list))
    };
    extras.retain(|extra, list| {
        let before = row(extra, list);
        let Some(items) = list.as_array_mut() else { return true };
        let count = items.len();
        strip(member, &format!("extras.{extra}"), items, |text| goes(text, targets), changes);
        if items.len() == count {
            return true;
        }
        let stays = !items.is_empty();
        lines.insert(before, stays.then(|| row(extra, list)));
        stays
    });
    lines
}

/// Links of a device wheel; `None` if rockpack did not write the file.
pub(super) fn promoted_links(member: &str, text: &str, set: &Set) -> Option<Changed> {
    let mut links: Value = serde_json::from_str(text).ok()?;
    if format!("{links}\n") != text {
        return None;
    }
    let version = links.get_mut("version")?;
    let old = version.as_str()?.to_owned();
    *version = set.to.as_str().into();
    let changes = vec![Change::new(member, "version", old, set.to.as_str())];
    Some(Changed { text: format!("{links}\n"), changes })
}
