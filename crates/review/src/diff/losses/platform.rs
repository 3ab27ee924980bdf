use std::collections::{BTreeMap, BTreeSet};

use base::names::LibcTag;

use super::super::contents::Package;
use super::{Compared, Found, LossKind, Of, general};
use plan::LossSubject;

/// Finds wheels for newer systems; one loss for all if every wheel with a platform is concerned.
pub(super) fn find(compared: &Compared<'_, '_>, found: &mut Found) {
    let index_pairs = compared.pairs.indices();
    let pairs: Vec<_> = index_pairs
        .map(|(old, new)| (&compared.old.packages[old], &compared.new.packages[new]))
        .collect();
    let narrower: Vec<_> =
        pairs.iter().filter_map(|(old, new)| Some((*old, excluded_machines(old, new)?))).collect();
    let with_tag = pairs.iter().filter(|(old, _)| old.platform_tag.is_some_and(|tag| tag != "any"));
    let is_everywhere = narrower.len() == with_tag.count();
    for (old, machines) in narrower {
        let distribution = if is_everywhere { String::new() } else { general(old) };
        let name = old.platform_tag.unwrap_or_default();
        let subject =
            LossSubject { package: old.package.filter(|_| !is_everywhere), name, source: None };
        found.add(Of::new(LossKind::Platform, &distribution), &machines, &subject, 0, compared.new);
    }
}

/// Machines that only the old wheel supports.
fn excluded_machines(old: &Package<'_>, new: &Package<'_>) -> Option<String> {
    let (old_releases, new_releases) = (oldest(old.platform_tag?), oldest(new.platform_tag?));
    let is_newer = |(architecture, release): &(&&str, &(u32, u32))| {
        old_releases.get(*architecture).is_some_and(|before| before < *release)
    };
    let release = new_releases.iter().filter(is_newer).map(|(_, release)| *release).max();
    let newer = release.map(|(major, minor)| format!("glibc below {major}.{minor}"));
    newer.or_else(|| {
        let (old_systems, new_systems) = (systems(old.platform_tag?), systems(new.platform_tag?));
        let system =
            old_systems.difference(&new_systems).next().filter(|_| !new_systems.contains("any"))?;
        Some(system.clone())
    })
}

/// Oldest supported release of glibc for each architecture.
fn oldest(tags: &str) -> BTreeMap<&str, (u32, u32)> {
    let mut oldest = BTreeMap::new();
    for tag in tags.split('.').filter_map(LibcTag::of).filter(|tag| !tag.is_musl) {
        let release = oldest.entry(tag.architecture.unwrap_or_default()).or_insert(tag.release);
        *release = tag.release.min(*release);
    }
    oldest
}

/// System and architecture of each tag, without a release of glibc: `linux_x86_64` for
/// `manylinux_2_28_x86_64`.
fn systems(tags: &str) -> BTreeSet<String> {
    let system = |tag: &str| match LibcTag::of(tag) {
        Some(libc) if libc.is_musl => format!("musl {}", libc.architecture.unwrap_or_default()),
        Some(libc) => format!("linux_{}", libc.architecture.unwrap_or_default()),
        None => tag.to_owned(),
    };
    tags.split('.').map(system).collect()
}
