use std::collections::BTreeSet;

use super::super::install_tree::Item;
use super::cause::{Cause, Causes, NAMES_OTHERS};
use base::names::{ArtifactName, Component};
use base::source::Place;

pub(super) struct Group<'a> {
    pub cause: Cause<'a>,
    pub items: Vec<Item<'a>>,
    /// Each line once.
    pub others: Vec<Cause<'a>>,
}

pub(super) fn groups<'a>(
    items: impl Iterator<Item = Item<'a>>,
    causes: &mut Causes<'a>,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for item in items {
        let mut candidates = causes.causes(&item).into_iter();
        let Some(cause) = candidates.next() else { continue };
        let index = groups.iter().position(|g| is_same(&g.cause, &cause, (g.items[0], item)));
        let index = index.unwrap_or_else(|| {
            groups.push(Group { cause, items: Vec::new(), others: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.items.push(item);
        // Other components do not matter if a line keeps the files out.
        for other in candidates.filter(|other| other.rank() < NAMES_OTHERS) {
            if !group.others.iter().any(|known| position(known.place()) == position(other.place()))
            {
                group.others.push(other);
            }
        }
    }
    groups
}

fn is_same(one: &Cause<'_>, other: &Cause<'_>, (a, b): (Item<'_>, Item<'_>)) -> bool {
    if one.rank() != other.rank() {
        return false;
    }
    match (one, other) {
        (Cause::NotInherited { of, .. }, Cause::NotInherited { of: other, .. }) => {
            of.name.value == other.name.value
        }
        // Each unnamed component is a separate cause.
        _ if one.rank() == NAMES_OTHERS => a.artifact.id.component == b.artifact.id.component,
        _ => position(one.place()) == position(other.place()),
    }
}

fn position(place: Option<&Place>) -> Option<(&str, usize)> {
    place.map(|place| (place.source().name(), place.start()))
}

impl<'a> Group<'a> {
    pub fn artifacts(&self) -> BTreeSet<&'a ArtifactName> {
        self.items.iter().map(|item| &item.artifact.id.name).collect()
    }

    pub fn component(&self) -> Option<Component> {
        let first = self.items.first()?.artifact.id.component;
        self.items.iter().all(|item| item.artifact.id.component == first).then_some(first)
    }

    pub fn families(&self) -> BTreeSet<&'a str> {
        let ids = self.items.iter().map(|item| &item.artifact.id);
        ids.filter(|id| !id.family.is_generic()).map(|id| id.family.as_str()).collect()
    }

    pub fn pronoun(&self) -> &'static str {
        if self.items.len() == 1 { "it" } else { "them" }
    }

    pub fn size(&self) -> u64 {
        self.items.iter().map(|item| item.entry.size()).sum()
    }
}
