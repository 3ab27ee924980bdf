use std::collections::{BTreeMap, BTreeSet};

use base::names::LibcTag;

use super::super::FieldChange;
use super::super::contents::Package;
use super::offered::{Offered, required};
use super::{Compared, Found, LossKind, Of, general};
use plan::Lost;

pub(super) fn find(compared: &Compared<'_, '_>, offered: &Offered<'_, '_>, found: &mut Found) {
    for (was, is) in compared.pairs.both() {
        let pair = (&compared.old.packages[was], &compared.new.packages[is]);
        requirements(compared, offered, pair, found);
        commands(compared, offered, pair, found);
        extras(compared, pair, found);
    }
    names(compared, found);
    platform(compared, found);
}

type Pair<'p, 'a> = (&'p Package<'a>, &'p Package<'a>);

fn requirements(
    compared: &Compared<'_, '_>,
    offered: &Offered<'_, '_>,
    (old, new): Pair<'_, '_>,
    found: &mut Found,
) {
    let is = required(new);
    // A package that is gone is its own loss.
    let there = |name: &String| {
        offered.has(name) || !compared.old.packages.iter().any(|p| p.name.normalized() == *name)
    };
    for name in required(old).into_iter().filter(|name| !is.contains(name) && there(name)) {
        if !offered.brings_name(new, &name) {
            add(compared, found, LossKind::Requirement, old, &name, "");
        }
    }
}

fn commands(
    compared: &Compared<'_, '_>,
    offered: &Offered<'_, '_>,
    (old, new): Pair<'_, '_>,
    found: &mut Found,
) {
    for name in old.entry_points.keys().filter(|name| !new.entry_points.contains_key(*name)) {
        let has = |other: &&Package<'_>| other.entry_points.contains_key(name);
        let mut holders = compared.new.packages.iter().filter(has).peekable();
        let first = holders.peek().map(|holder| general(holder)).unwrap_or_default();
        if !holders.any(|holder| offered.brings(new, holder)) {
            add(compared, found, LossKind::Command, old, name, &first);
        }
    }
}

fn extras(compared: &Compared<'_, '_>, (old, new): Pair<'_, '_>, found: &mut Found) {
    let is: BTreeSet<&String> = new.metadata.provides_extra.iter().collect();
    for name in old.metadata.provides_extra.iter().filter(|name| !is.contains(name)) {
        add(compared, found, LossKind::Extra, old, name, "");
    }
}

fn add(
    compared: &Compared<'_, '_>,
    found: &mut Found,
    kind: LossKind,
    old: &Package<'_>,
    name: &str,
    to: &str,
) {
    let of = general(old);
    let lost = Lost { package: old.package, name, origin: None };
    found.add(Of::new(kind, &of), to, &lost, 0, compared.new);
}

/// Every package has all names: one difference tells all.
fn names(compared: &Compared<'_, '_>, found: &mut Found) {
    let fields = compared.changed.iter().flat_map(|change| &change.fields);
    let Some(field) =
        fields.filter(|field| field.field == "libraries").find(|f| !lost_names(f).is_empty())
    else {
        return;
    };
    for name in lost_names(field) {
        let lost = Lost { package: None, name, origin: None };
        found.add(Of::new(LossKind::Name, ""), "", &lost, 0, compared.new);
    }
}

/// Values are `NAME: …` for a whole entry, `NAME KEY: …` for a part of one.
fn lost_names(field: &FieldChange) -> BTreeSet<&str> {
    let whole = |text: &'_ String| text.split_once(": ").map(|(name, _)| name.to_owned());
    let added: BTreeSet<String> = field.added.iter().filter_map(whole).collect();
    let removed = field.removed.iter().filter_map(|text| text.split_once(": "));
    let names = removed.map(|(name, _)| name).filter(|name| !name.contains(' '));
    names.filter(|name| !added.contains(*name)).collect()
}

fn platform(compared: &Compared<'_, '_>, found: &mut Found) {
    let pairs = || {
        compared
            .pairs
            .both()
            .map(|(was, is)| (&compared.old.packages[was], &compared.new.packages[is]))
    };
    let newer: Vec<_> = pairs().filter_map(|(old, new)| Some((old, newer(old, new)?))).collect();
    let with_tag = pairs().filter(|(old, _)| old.platform_tag.is_some_and(|tag| tag != "any"));
    let all = newer.len() == with_tag.count();
    for (old, (major, minor)) in newer {
        let of = if all { String::new() } else { general(old) };
        let name = old.platform_tag.unwrap_or_default();
        let lost = Lost { package: old.package.filter(|_| !all), name, origin: None };
        found.add(
            Of::new(LossKind::Platform, &of),
            &format!("{major}.{minor}"),
            &lost,
            0,
            compared.new,
        );
    }
}

/// Release of glibc that the new wheel needs, if the old one needs less.
fn newer(old: &Package<'_>, new: &Package<'_>) -> Option<(u32, u32)> {
    let (was, is) = (oldest(old.platform_tag?), oldest(new.platform_tag?));
    let more = |(architecture, release): &(&&str, &(u32, u32))| {
        was.get(*architecture).is_some_and(|before| before < *release)
    };
    is.iter().filter(more).map(|(_, release)| *release).max()
}

fn oldest(tags: &str) -> BTreeMap<&str, (u32, u32)> {
    let mut oldest = BTreeMap::new();
    for tag in tags.split('.').filter_map(LibcTag::of).filter(|tag| !tag.is_musl) {
        let release = oldest.entry(tag.architecture.unwrap_or_default()).or_insert(tag.release);
        *release = tag.release.min(*release);
    }
    oldest
}
