//! Compatibility of targets with features, as in `isTargetIDCompatible` of LLVM: a target without
//! a feature fits GPUs with it on or off.

use std::collections::{BTreeMap, BTreeSet};

type Features<'t> = BTreeSet<&'t str>;

fn parts(target: &str) -> (&str, Features<'_>) {
    let mut words = target.split(':');
    (words.next().unwrap_or_default(), words.collect())
}

fn joined<'t>(one: &Features<'t>, other: &Features<'t>) -> Option<Features<'t>> {
    let union: Features<'t> = one.union(other).copied().collect();
    let names: BTreeSet<&str> = union.iter().map(|it| it.trim_end_matches(['+', '-'])).collect();
    (names.len() == union.len()).then_some(union)
}

/// Returns the targets with all combinations of their features that one GPU can have.
pub(super) fn closed(targets: &BTreeSet<String>) -> BTreeSet<String> {
    let mut closure = targets.clone();
    for target in targets {
        let (isa, features) = parts(target);
        let snapshot: Vec<String> = closure.iter().cloned().collect();
        for other in &snapshot {
            let (other_isa, more) = parts(other);
            let Some(features) = joined(&features, &more).filter(|_| isa == other_isa) else {
                continue;
            };
            let names: Vec<&str> = [isa].into_iter().chain(features).collect();
            let spelled = names.join(":");
            // A target can spell its features in another order.
            let is_present = |it: &String| parts(it) == parts(&spelled);
            if !closure.iter().any(is_present) {
                closure.insert(spelled);
            }
        }
    }
    closure
}

pub(super) fn most_specific<'p, T>(target: &str, pieces: &'p BTreeMap<String, T>) -> Option<&'p T> {
    let (isa, available) = parts(target);
    let compatible = pieces.iter().filter_map(|(name, piece)| {
        let (piece_isa, features) = parts(name);
        (isa == piece_isa && features.is_subset(&available)).then_some((features.len(), piece))
    });
    let most = compatible.clone().map(|(count, _)| count).max()?;
    compatible.filter(|(count, _)| *count == most).map(|(_, piece)| piece).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(targets: &[&str]) -> BTreeSet<String> {
        targets.iter().map(|target| (*target).to_owned()).collect()
    }

    fn chosen(gpu: &str, listed: &BTreeSet<String>) -> Option<String> {
        let (isa, features) = parts(gpu);
        let subset = |it: &&String| parts(it).0 == isa && parts(it).1.is_subset(&features);
        listed.iter().filter(subset).max_by_key(|it| parts(it).1.len()).cloned()
    }

    #[test]
    fn lists_every_combination_of_targets() {
        let of = |targets: &[&str]| closed(&set(targets));
        assert_eq!(of(&["gfx90a"]), set(&["gfx90a"]));
        assert_eq!(
            of(&["gfx90a:xnack+", "gfx90a:xnack-"]),
            set(&["gfx90a:xnack+", "gfx90a:xnack-"])
        );
        assert_eq!(
            of(&["gfx90a:xnack+", "gfx90a:sramecc+", "gfx942:xnack+"]),
            set(&["gfx90a:xnack+", "gfx90a:sramecc+", "gfx90a:sramecc+:xnack+", "gfx942:xnack+"])
        );
        let odd = ["gfx90a:xnack+:sramecc+", "gfx90a:xnack+", "gfx90a:sramecc+"];
        assert_eq!(of(&odd), set(&odd));
    }

    #[test]
    fn every_gpu_finds_the_code_that_it_can_run() {
        let units: [&[&str]; 4] =
            [&["gfx90a"], &["gfx90a:xnack+", "gfx90a:xnack-"], &["gfx90a:sramecc+"], &["gfx942"]];
        let all: BTreeSet<String> = units.iter().flat_map(|unit| set(unit)).collect();
        let listed = closed(&all);
        let gpus =
            ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc-:xnack+", "gfx90a:sramecc+", "gfx942"];
        for (gpu, unit) in gpus.iter().flat_map(|gpu| units.iter().map(move |unit| (gpu, unit))) {
            let pieces: BTreeMap<String, &str> =
                unit.iter().map(|target| ((*target).to_owned(), *target)).collect();
            let found = chosen(gpu, &listed).and_then(|it| most_specific(&it, &pieces).copied());
            assert_eq!(found, most_specific(gpu, &pieces).copied(), "{gpu} {unit:?}");
        }
        let pieces = BTreeMap::from([("gfx90a".to_owned(), 1), ("gfx90a:xnack+".to_owned(), 2)]);
        let of = |target| most_specific(target, &pieces).copied();
        assert_eq!(
            [of("gfx90a:xnack+"), of("gfx90a:xnack-"), of("gfx942")],
            [Some(2), Some(1), None]
        );
    }
}
