//! Families of artifacts that families.kdl does not declare.

use std::collections::BTreeSet;

use base::source::{Code, Problem, Problems, nearest};
use catalog::{ArtifactId, Catalog};
use manifest::Manifest;

/// Reports each undeclared family once, with its first artifact, and returns them.
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

/// Remedy: the line of the program's list of ISAs, or the place of a similar ISA's line as a pattern. An
/// ISA with `package=` is no pattern, because its line has neither `mach` nor `wave`.
fn declaration(manifest: &Manifest, isa: &str) -> String {
    let families = &manifest.families;
    if let Some((_, listed)) = families.of_program.iter().find(|(name, _)| name.as_str() == isa) {
        return format!("add its line to families.kdl: {}", listed.line);
    }
    let common_length =
        |name: &str| isa.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let patterns = families.isas.iter().filter(|(_, facts)| facts.package.is_none());
    let similar = patterns.max_by_key(|(name, _)| common_length(name.as_str()));
    match similar {
        Some((name, facts)) => format!(
            "declare it in families.kdl, with its families, `parent`, `mach` and `wave`, as {} \
             declares `{name}`",
            facts.place
        ),
        None => format!("declare it in families.kdl: isa \"{isa}\" product=\"…\""),
    }
}
