use std::collections::BTreeSet;

use pep440_rs::{Version, VersionSpecifiers};

use super::super::contents::Package;
use super::{Compared, Found, LossKind, Of, general};
use plan::LossSubject;

/// Minor releases of Python 3 that a change is judged for: later ones are far away.
const MINORS: u32 = 30;

/// First and last release of a minor one: `>=3.10.4` excludes the first alone.
const MICROS: [u32; 2] = [0, 99];

/// Finds releases of Python that no new package is for.
pub(super) fn find(compared: &Compared<'_, '_>, found: &mut Found) {
    let pairs = compared.pairs.indices();
    let pairs = pairs.map(|(was, is)| (&compared.old.packages[was], &compared.new.packages[is]));
    let releases_by_pair: Vec<_> = pairs.map(|(old, new)| (old, lost_releases(old, new))).collect();
    let first = releases_by_pair.first().map(|(_, releases)| releases.clone());
    let is_everywhere = releases_by_pair
        .iter()
        .all(|(_, releases)| !releases.is_empty() && Some(releases) == first.as_ref());
    for (old, releases) in &releases_by_pair {
        let distribution = if is_everywhere { String::new() } else { general(old) };
        for release in releases {
            let package = old.package.filter(|_| !is_everywhere);
            let subject = LossSubject { package, name: release, source: None };
            found.add(Of::new(LossKind::Python, &distribution), "", &subject, 0, compared.new);
        }
    }
}

fn lost_releases(old: &Package<'_>, new: &Package<'_>) -> BTreeSet<String> {
    let (old_range, new_range) = (&old.metadata.requires_python, &new.metadata.requires_python);
    if old_range == new_range {
        return BTreeSet::new();
    }
    let specifiers = |text: &str| text.parse::<VersionSpecifiers>().ok();
    let Some((old_range, new_range)) = specifiers(old_range).zip(specifiers(new_range)) else {
        return BTreeSet::new();
    };
    let minors = (0..MINORS).filter(|minor| {
        MICROS.iter().any(|micro| {
            let release = Version::new([3, u64::from(*minor), u64::from(*micro)]);
            old_range.contains(&release) && !new_range.contains(&release)
        })
    });
    minors.map(|minor| format!("3.{minor}")).collect()
}
