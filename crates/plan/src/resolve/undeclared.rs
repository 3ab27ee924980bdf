//! Families of artifacts that families.kdl does not declare.

use std::collections::BTreeSet;

use base::source::{Code, Problem, Problems, nearest};
use catalog::{ArtifactId, Catalog};
use manifest::Manifest;

/// Returns the undeclared families of artifacts.
pub(super) fn check_families<'c>(
    manifest: &Manifest,
    catalog: &'c Catalog,
    problems: &mut Problems,
) -> BTreeSet<&'c str> {
    let families: BTreeSet<(&str, &ArtifactId)> =
        catalog.artifacts.iter().map(|a| (a.id.family.base(), &a.id)).collect();
    let (mut visited, mut unknown) = (BTreeSet::from(["generic"]), BTreeSet::new());
    for (family, id) in families {
        let is_axis_value = || manifest.families.is_on_axis(family);
        if visited.insert(family) && manifest.families.expand(family).is_empty() && !is_axis_value()
        {
            unknown.insert(family);
            let hint = nearest(family, manifest.families.names())
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            problems.push(
                Problem::error(
                    Code::UnknownTarget,
                    format!(
                        "artifact `{id}` is for `{family}`, which families.kdl does not \
                        declare{hint}"
                    ),
                )
                .of_fact(family)
                .help(declaration(manifest, family)),
            );
        }
    }
    unknown
}

/// Line that declares an ISA: of the program's own list, or the most similar one's as a pattern. An ISA
/// in the packages of another one is no pattern: it has no number.
fn declaration(manifest: &Manifest, isa: &str) -> String {
    let families = &manifest.families;
    if let Some((_, known)) = families.of_program.iter().find(|(name, _)| name.as_str() == isa) {
        return format!("add its line to families.kdl: {}", known.line);
    }
    let common =
        |name: &str| isa.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    let packaged = families.isas.iter().filter(|(_, facts)| facts.package.is_none());
    let similar = packaged.max_by_key(|(name, _)| common(name.as_str()));
    match similar {
        Some((name, facts)) => format!(
            "declare it in families.kdl, with its families, `parent`, `mach` and `wave`, as {} \
             declares `{name}`",
            facts.place
        ),
        None => format!("declare it in families.kdl: isa \"{isa}\" product=\"…\""),
    }
}
