//! Reports incomplete packages with all missing lines, ready to paste.

use std::collections::{BTreeMap, HashSet};

use crate::decode::Faults;
use crate::reader::listed;
use crate::{Distribution, LicenseOf, Package, PackageKind};
use base::names::{ArtifactName, PackageName};
use base::source::{Code, Problem};

struct Context<'k> {
    packages: &'k [Package],
    /// Unknown if `common` cannot be decoded.
    licenses: Option<HashSet<&'k ArtifactName>>,
}

pub(in super::super) fn check(
    faults: &Faults,
    packages: &[Package],
    licenses: Option<&[LicenseOf]>,
) {
    let licenses = licenses.map(|lines| lines.iter().map(|line| &line.artifact.value).collect());
    let context = Context { packages, licenses };
    for package in packages {
        let missing = context.missing(package);
        if !missing.is_empty() {
            faults.report(context.problem(package, &missing));
        }
    }
}

impl Context<'_> {
    fn missing(&self, package: &Package) -> Vec<&'static str> {
        let needed = |word: &&'static str| *word != "license" || self.has_no_terms(package);
        package.draft.missing.iter().copied().filter(needed).collect()
    }

    /// Returns true if no licence can be composed: the package ships nothing, or a required artifact
    /// has no `license-of` line.
    fn has_no_terms(&self, package: &Package) -> bool {
        ships_nothing(package) || self.without_terms(package).next().is_some()
    }

    fn without_terms<'o>(&'o self, package: &'o Package) -> impl Iterator<Item = &'o ArtifactName> {
        let package_named =
            |name: &PackageName| self.packages.iter().find(|o| o.name.value == *name);
        let inherited =
            package.artifacts_of.iter().filter_map(move |name| package_named(&name.value));
        let left_out = |name: &ArtifactName| {
            package.without_artifacts.iter().any(|excluded| excluded.value == *name)
        };
        let has_terms = |name: &ArtifactName| {
            self.licenses.as_ref().is_none_or(|declared| declared.contains(name))
        };
        inherited
            .chain([package])
            .flat_map(|o| &o.artifacts)
            .filter(|rule| rule.optional.is_none())
            .map(|rule| &rule.name.value)
            .filter(move |name| !left_out(name) && !has_terms(name))
    }

    fn problem(&self, package: &Package, missing: &[&'static str]) -> Problem {
        let name = &package.name.value;
        let words = listed(missing.iter().copied());
        let lines: Vec<String> = missing.iter().filter_map(|w| self.line(package, w)).collect();
        let code = match missing {
            ["license"] => Code::UndeclaredLicense,
            _ => Code::MissingPart,
        };
        let help = format!("complete these lines:\n{}", indented(&head(package), &lines));
        let (and, help) = match selector_without_extra(package, self.packages) {
            Some(selector) => {
                (", and is in no extra", format!("{help}\n{}", offer(package, selector)))
            }
            None => ("", help),
        };
        Problem::error(code, format!("package `{name}` lacks {words}{and}"))
            .label(&package.name.place, self.label(package, missing))
            .help(help)
    }

    fn label(&self, package: &Package, missing: &[&'static str]) -> String {
        let names: Vec<&str> = self.without_terms(package).map(ArtifactName::as_str).collect();
        match missing {
            ["license"] if ships_nothing(package) => {
                "it ships no artifacts to take a licence from".to_owned()
            }
            ["license"] => format!("no licence is given for {}", listed(names)),
            _ => "incomplete".to_owned(),
        }
    }

    fn line(&self, package: &Package, word: &str) -> Option<String> {
        let name = package.name.as_str();
        Some(match word {
            "distribution" => {
                let distribution = format!("{}{name}", self.prefix());
                let module = distribution.replace(['-', '.'], "_");
                format!("distribution \"{distribution}\" module=\"{module}\" per=\"none\"")
            }
            "summary" => format!("summary \"{}\"", summary(package)),
            "license" => format!("license \"{}\"", self.license(package)),
            _ => return None,
        })
    }

    fn prefix(&self) -> String {
        let prefixes = self.packages.iter().filter_map(|o| {
            let before = |d: &Distribution| {
                let text = d.name.as_str();
                text.find(&format!("-{}", o.name.value)).map(|dash| text[..=dash].to_owned())
            };
            o.distributions.iter().find_map(before)
        });
        most_frequent(prefixes).unwrap_or_default()
    }

    fn most_frequent_value(
        &self,
        kind: PackageKind,
        value: impl Fn(&Package) -> Option<String>,
    ) -> Option<String> {
        let alike = self.packages.iter().filter(|o| o.kind == kind);
        most_frequent(alike.filter_map(&value))
    }

    fn license(&self, package: &Package) -> String {
        let usual_license = self.most_frequent_value(package.kind, license_text);
        usual_license
            .or_else(|| most_frequent(self.packages.iter().filter_map(license_text)))
            .unwrap_or_else(|| format!("LicenseRef-{}", package.name.value))
    }
}

fn selector_without_extra<'o>(package: &Package, packages: &'o [Package]) -> Option<&'o Package> {
    let name = &package.name.value;
    let relies = |o: &Package| {
        o.required().any(|r| r.value == *name)
            || o.extras.iter().any(|extra| extra.package.value == *name)
    };
    let selector = packages.iter().find(|o| o.kind == PackageKind::Selector)?;
    (package.kind != PackageKind::Selector && !packages.iter().any(relies)).then_some(selector)
}

fn ships_nothing(package: &Package) -> bool {
    matches!(package.kind, PackageKind::Selector | PackageKind::Choice)
}

fn license_text(package: &Package) -> Option<String> {
    package.license.as_ref().map(|license| license.value.to_string())
}

fn head(package: &Package) -> String {
    format!("package \"{}\" kind=\"{}\" {{", package.name.value, package.kind.as_str())
}

fn indented(head: &str, lines: &[String]) -> String {
    lines.iter().fold(format!("  {head}"), |text, line| format!("{text}\n      {line}"))
}

fn offer(package: &Package, selector: &Package) -> String {
    let name = &package.name.value;
    let line = format!("extra \"{name}\" package=\"{name}\"");
    indented(&head(selector), &[line])
}

fn summary(package: &Package) -> String {
    let names: Vec<&str> = package.artifacts.iter().map(|rule| rule.name.as_str()).collect();
    match names.as_slice() {
        [] => format!("The package {}", package.name.value),
        [one] => format!("Files of {one}"),
        [one, other] => format!("Files of {one} and {other}"),
        [first, second, ..] => format!("Files of {first}, {second} and more"),
    }
}

/// Returns the most frequent text; `rev` makes ties go to the first alphabetically, because
/// `max_by_key` takes the last.
fn most_frequent(texts: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(text, _)| text)
}
