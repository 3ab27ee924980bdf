use std::collections::{BTreeMap, BTreeSet};

use base::names::LibcTag;

use super::super::contents::Package;
use super::{Compared, Found, LossKind, Of, general};
use plan::Lost;

pub(super) fn find(compared: &Compared<'_, '_>, found: &mut Found) {
    let both = compared.pairs.both();
    let pairs: Vec<_> =
        both.map(|(was, is)| (&compared.old.packages[was], &compared.new.packages[is])).collect();
    let newer: Vec<_> =
        pairs.iter().filter_map(|(old, new)| Some((*old, newer(old, new)?))).collect();
    let with_tag = pairs.iter().filter(|(old, _)| old.platform_tag.is_some_and(|tag| tag != "any"));
    let all = newer.len() == with_tag.count();
    for (old, needs) in newer {
        let of = if all { String::new() } else { general(old) };
        let name = old.platform_tag.unwrap_or_default();
        let lost = Lost { package: old.package.filter(|_| !all), name, origin: None };
        found.add(Of::new(LossKind::Platform, &of), &needs, &lost, 0, compared.new);
    }
}

/// Description of the machines that the new wheel is not for, if the old one was.
fn newer(old: &Package<'_>, new: &Package<'_>) -> Option<String> {
    let (was, is) = (oldest(old.platform_tag?), oldest(new.platform_tag?));
    let more = |(architecture, release): &(&&str, &(u32, u32))| {
        was.get(*architecture).is_some_and(|before| before < *release)
    };
    let release = is.iter().filter(more).map(|(_, release)| *release).max();
    let newer = release.map(|(major, minor)| format!("glibc below {major}.{minor}"));
    newer.or_else(|| {
        let (was, is) = (systems(old.platform_tag?), systems(new.platform_tag?));
        let gone = was.difference(&is).next().filter(|_| !is.contains("any"))?;
        Some(gone.clone())
    })
}

fn oldest(tags: &str) -> BTreeMap<&str, (u32, u32)> {
    let mut oldest = BTreeMap::new();
    for tag in tags.split('.').filter_map(LibcTag::of).filter(|tag| !tag.is_musl) {
        let release = oldest.entry(tag.architecture.unwrap_or_default()).or_insert(tag.release);
        *release = tag.release.min(*release);
    }
    oldest
}

/// System and architecture of each tag: `linux_x86_64` for a tag with a release of glibc, too.
fn systems(tags: &str) -> BTreeSet<String> {
    let system = |tag: &str| match LibcTag::of(tag) {
        Some(libc) if libc.is_musl => format!("musl {}", libc.architecture.unwrap_or_default()),
        Some(libc) => format!("linux_{}", libc.architecture.unwrap_or_default()),
        None => tag.to_owned(),
    };
    tags.split('.').map(system).collect()
}
