//! ISAs of families.kdl against the ISAs that rocm-bootstrap detects (`tests/isas/run` compares its
//! newest version).

use std::collections::BTreeSet;

use crate::repository;

/// Columns of a row: ISA, package, levels, and the reason of an undeclared ISA.
fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = include_str!("isas/bootstrap.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

#[test]
fn families_kdl_has_the_isas_that_rocm_bootstrap_detects() {
    let families = repository::manifest().families;
    let mut known = BTreeSet::new();
    for row in rows() {
        let [isa, package, nearest, highest, reason @ ..] = &row[..] else {
            panic!("{row:?}: expected an ISA, its package and two levels");
        };
        known.insert(*isa);
        let facts = families.isas.iter().find(|(name, _)| name.as_str() == *isa);
        assert_eq!(facts.is_some(), reason.is_empty(), "{isa}: declared, or a reason in the table");
        if let Some((_, facts)) = facts {
            assert_eq!(
                (families.package_of(isa), families.above(isa)),
                (*package, vec![*nearest, *highest]),
                "{isa}"
            );
            assert!(facts.package.is_some() || facts.mach.is_some(), "{isa} has no `mach`");
            assert!(facts.wave.is_some(), "{isa} has no `wave`");
        }
    }
    let declared: BTreeSet<&str> = families.isas.keys().map(base::names::Isa::as_str).collect();
    let unknown: Vec<_> = declared.difference(&known).collect();
    assert!(unknown.is_empty(), "rocm-bootstrap does not detect {unknown:?}");
}
