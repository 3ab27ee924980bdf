use base::names::{PackageName, normalized};
use base::target::Per;
use check::{Known, Package};
use manifest::{Distribution, Manifest};

/// Package of the manifest.
pub struct Owner<'m> {
    /// Name of the package.
    pub package: &'m PackageName,
    target: Option<String>,
}

impl<'m> Owner<'m> {
    /// Package with a distribution of this name, by the template with the shortest placeholder text.
    pub fn of(manifest: &'m Manifest, package: &Package<'_>) -> Option<Self> {
        let name = package.name.as_deref()?;
        let lines = manifest.packages.values().flat_map(|package| {
            package.distributions.iter().map(move |line| (&package.name.value, line))
        });
        let fitting = lines
            .filter_map(|(package, line)| Some((package, line, filled(line.name.as_str(), name)?)));
        let (package, line, filled) = fitting.min_by_key(|(_, _, filled)| filled.len())?;
        Some(Self { package, target: target(manifest, line, filled) })
    }
}

/// Sets the target of each package that the manifest describes.
pub(super) fn set_targets(manifest: &Manifest, packages: &mut [Package<'_>]) {
    for package in packages {
        if let Some(owner) = Owner::of(manifest, package) {
            package.target = Known::Is(owner.target);
        }
    }
}

fn target(manifest: &Manifest, line: &Distribution, filled: &str) -> Option<String> {
    if !matches!(line.per, Per::Isa | Per::Family) {
        return None;
    }
    Some(known_target(manifest, filled))
}

/// The manifest's spelling of a normalized target.
pub fn known_target(manifest: &Manifest, filled: &str) -> String {
    let name = manifest.families.names().find(|name| part(name) == filled);
    name.unwrap_or(filled).to_owned()
}

/// Text of the template's placeholder in the normalized `name`; empty without one.
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

fn part(text: &str) -> String {
    text.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_target_in_a_name_by_its_template() {
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
