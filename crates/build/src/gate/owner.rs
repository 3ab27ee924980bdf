//! Which package of the manifest a finished one is, and for which target.

use base::names::{PackageName, normalized};
use base::target::Per;
use manifest::{Distribution, Manifest};
use wheel::verify::{self, Finding, Package};

/// A package of the manifest.
pub struct Owner<'m> {
    /// Its name.
    pub package: &'m PackageName,
    /// The ISA, the level or the family that this one of its distributions is for.
    target: Option<String>,
}

impl<'m> Owner<'m> {
    /// By the name of the distribution; nothing where the manifest has no such package.
    pub fn of(manifest: &'m Manifest, package: &Package) -> Option<Self> {
        let name = package.name.as_deref()?;
        manifest.packages.values().find_map(|package| {
            let filled = package
                .distributions
                .iter()
                .find_map(|line| Some((line, filled(line.name.as_str(), name)?)));
            let (line, filled) = filled?;
            Some(Self { package: &package.name.value, target: target(manifest, line, filled) })
        })
    }
}

/// Device code that is in another package than that for its ISA. Of packages that the manifest does
/// not have, nobody knows for which ISA they are.
pub fn misplaced(
    manifest: &Manifest,
    targets: &verify::Targets,
    packages: &[Package],
) -> Vec<Finding> {
    let judged = packages.iter().filter_map(|p| Some((p, Owner::of(manifest, p)?)));
    judged
        .flat_map(|(package, owner)| verify::misplaced(targets, package, owner.target.as_deref()))
        .collect()
}

/// The target that was filled in, as the manifest spells it.
fn target(manifest: &Manifest, line: &Distribution, filled: &str) -> Option<String> {
    if !matches!(line.per, Per::Isa | Per::Family) {
        return None;
    }
    Some(known_target(manifest, filled))
}

/// What fills a name, which is normalised, as the manifest spells it.
pub fn known_target(manifest: &Manifest, filled: &str) -> String {
    let known = manifest.families.names().find(|name| part(name) == filled);
    known.unwrap_or(filled).to_owned()
}

/// What fills the placeholder of a name to make `name`, which is normalised: nothing where that
/// cannot be, an empty text where there is no placeholder.
pub fn filled<'n>(template: &str, name: &'n str) -> Option<&'n str> {
    let parts = template
        .split_once('{')
        .and_then(|(before, rest)| Some((part(before), part(rest.split_once('}')?.1))));
    match parts {
        Some((before, after)) => {
            let filled = name.strip_prefix(&*before)?.strip_suffix(&*after)?;
            (!filled.is_empty()).then_some(filled)
        }
        None => (normalized(template).as_deref() == Some(name)).then_some(""),
    }
}

/// A part of a name, which need not be one, as names are compared.
fn part(text: &str) -> String {
    text.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_told_by_their_templates() {
        for (template, name, expected) in [
            ("example-device-{isa}", "example-device-gpu9", Some("gpu9")),
            ("example-device-{isa}", "example-device-", None),
            ("example_device_{isa}-x", "example-device-gpu9-x", Some("gpu9")),
            ("Example.core", "example-core", Some("")),
            ("example-core", "example-core-more", None),
        ] {
            assert_eq!(filled(template, name), expected, "{template} {name}");
        }
    }
}
