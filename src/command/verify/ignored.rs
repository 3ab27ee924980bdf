//! What the manifest says of findings.

use rockpack::manifest::{Glob, IgnoreRule, Manifest, Template};
use rockpack::names::{PackageName, RelPath, normalized};
use rockpack::source::{Code, Problem, Problems};
use rockpack::verify::{Finding, Package};

/// Findings, parted into what counts and what is meant.
pub struct Judged<'m> {
    pub kept: Vec<Finding>,
    pub ignored: Vec<(Finding, &'m IgnoreRule)>,
    /// A warning for each rule that ignores nothing.
    pub idle: Problems,
}

impl<'m> Judged<'m> {
    /// Holds the findings against the manifest's rules; the first that fits counts.
    pub fn new(manifest: &'m Manifest, packages: &[Package], findings: Vec<Finding>) -> Self {
        let owners: Vec<(&str, Option<&PackageName>)> = packages
            .iter()
            .map(|package| {
                (&*package.file, package.name.as_deref().and_then(|name| owner(manifest, name)))
            })
            .collect();
        let owner_of = |file: &str| {
            owners.iter().find(|(name, _)| *name == file).and_then(|(_, owner)| *owner)
        };
        let mut judged = Self { kept: Vec::new(), ignored: Vec::new(), idle: Problems::new() };
        let mut used = vec![false; manifest.ignores.len()];
        for finding in findings {
            let fits = |rule: &IgnoreRule| fits(rule, &finding, owner_of(&finding.file));
            match manifest.ignores.iter().position(fits) {
                Some(index) => {
                    used[index] = true;
                    judged.ignored.push((finding, &manifest.ignores[index]));
                }
                None => judged.kept.push(finding),
            }
        }
        let concerned = |rule: &IgnoreRule| {
            !rule.is_of_plans()
                && owners.iter().filter_map(|(_, owner)| *owner).any(|owner| {
                    rule.package.as_ref().is_none_or(|package| package.value == *owner)
                })
        };
        let unused = manifest
            .ignores
            .iter()
            .zip(used)
            .filter(|(rule, used)| !used && rule.optional.is_none() && concerned(rule));
        unused.for_each(|(rule, _)| judged.idle.push(idle(rule)));
        judged
    }

    /// A note for each finding that is ignored, with the reason.
    pub fn notes(&self) -> Problems {
        let mut notes = Problems::new();
        for (finding, rule) in &self.ignored {
            notes.push(Problem::note(finding.code, format!("{finding}; ignored: {}", rule.reason)));
        }
        notes
    }
}

/// The package of the manifest that a distribution is of.
fn owner<'m>(manifest: &'m Manifest, name: &str) -> Option<&'m PackageName> {
    let of = |template: &Template| is_of(template.as_str(), name);
    manifest
        .packages
        .values()
        .find(|package| package.distributions.iter().any(|d| of(&d.name.value)))
        .map(|package| &package.name.value)
}

/// Whether the name that a placeholder is filled in to make can be `name`, which is normalised.
fn is_of(template: &str, name: &str) -> bool {
    // A part of a name need not be one.
    let part = |text: &str| text.to_lowercase().replace(['_', '.'], "-");
    match template
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)))
    {
        Some((before, after)) => {
            let (before, after) = (part(before), part(after));
            name.len() > before.len() + after.len()
                && name.starts_with(&before)
                && name.ends_with(&after)
        }
        None => normalized(template).as_deref() == Some(name),
    }
}

fn fits(rule: &IgnoreRule, finding: &Finding, owner: Option<&PackageName>) -> bool {
    let of_package = rule.package.as_ref().is_none_or(|package| Some(&package.value) == owner);
    let leads = || {
        rule.to.as_ref().is_none_or(|glob| finding.to.as_deref().is_some_and(|to| is_in(glob, to)))
    };
    let within = || {
        rule.glob
            .as_ref()
            .is_none_or(|glob| finding.member.as_deref().is_some_and(|member| is_in(glob, member)))
    };
    rule.code.value == finding.code && of_package && within() && leads()
}

/// Whether a glob means a member: by its path in the package, or below the package's first directory.
fn is_in(glob: &Glob, member: &str) -> bool {
    let matches = |path: &str| path.parse::<RelPath>().is_ok_and(|path| glob.matches(&path));
    matches(member) || member.split_once('/').is_some_and(|(_, below)| matches(below))
}

fn idle(rule: &IgnoreRule) -> Problem {
    Problem::warning(
        Code::MatchesNothing,
        format!("nothing is found that `ignore \"{}\"` ignores", rule.code.value),
    )
    .label(&rule.code.place, "no finding of this kind is where it says")
    .help("remove the line, or say why it can be so: optional=\"…\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_told_by_their_templates() {
        for (template, name, expected) in [
            ("example-device-{isa}", "example-device-gpu9", true),
            ("example-device-{isa}", "example-device-", false),
            ("example_device_{isa}-x", "example-device-gpu9-x", true),
            ("Example.core", "example-core", true),
            ("example-core", "example-core-more", false),
        ] {
            assert_eq!(is_of(template, name), expected, "{template} {name}");
        }
    }
}
