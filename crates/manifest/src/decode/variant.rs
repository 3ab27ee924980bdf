//! `variant`: a wheel for each target, which installers choose by what they are told of the machine.

use std::str::FromStr;

use super::scope::Scope;
use super::text::{TextError, refuse};
use super::{Faults, Node};
use crate::{Distribution, PackageKind, Requirement, Template, VariantRule};
use base::names::VariantLabel;
use base::source::{Code, Problem, Spanned};
use base::target::Per;

pub(super) fn variant<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<VariantRule> {
    let label = node.argument::<Template>("a label");
    let package = node.required("package");
    let namespace = node.required::<Property>("namespace");
    let feature = node.required::<Property>("feature");
    let provider = node.required::<Requirement>("provider");
    let plugin = node.required::<Plugin>("plugin");
    if let Some(package) = &package {
        scope.context.resolve(package, Some(PackageKind::Runtime));
    }
    if let Some(label) = &label {
        check_label(scope.context.faults, label);
    }
    Some(VariantRule {
        label: label?,
        package: package?,
        namespace: namespace?.value.0,
        feature: feature?.value.0,
        provider: provider?.value,
        plugin: plugin?.value.0,
    })
}

/// Every label is another, and can end a file name.
fn check_label(faults: &Faults, label: &Spanned<Template>) {
    let fills = |placeholder| Per::Isa.placeholder() == Some(placeholder);
    if !label.has_placeholder() || !label.placeholders().all(fills) {
        let message = format!("the label `{}` does not tell ISAs apart", label.value);
        let problem = Problem::error(Code::PlaceholderMissing, message);
        faults.report(
            problem.label(&label.place, "`{isa}` has to be in here, and no other placeholder"),
        );
    } else if let Err(error) = label.filled().parse::<VariantLabel>() {
        let message = format!("`{}` is not the label of a wheel variant", label.value);
        let problem = Problem::error(Code::InvalidText, message);
        faults.report(problem.label(&label.place, error.reason));
    }
}

/// Reports a package whose distributions are not one for each ISA.
pub(super) fn check_package(faults: &Faults, rule: &VariantRule, distributions: &[Distribution]) {
    let Some(other) = distributions.iter().find(|d| d.per != Per::Isa) else { return };
    let message = format!("there is no `{}` for each ISA", rule.package.value);
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&rule.package.place, "each variant requires the one for its ISA")
        .label(&other.name.place, format!("per=\"{}\" makes others", other.per.word()));
    faults.report(problem.help("name a package with per=\"isa\""));
}

/// A namespace or a feature.
struct Property(String);

impl FromStr for Property {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !text.is_empty() && text.chars().all(fine) {
            return Ok(Self(text.to_owned()));
        }
        refuse(
            format!("`{text}` is not part of a variant property"),
            "use lower-case letters, digits and `_`",
        )
    }
}

/// An object of a module.
struct Plugin(String);

impl FromStr for Plugin {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match text.split_once(':') {
            Some((module, object)) if module.split('.').chain(object.split('.')).all(name) => {
                Ok(Self(text.to_owned()))
            }
            _ => refuse(
                format!("`{text}` is no object of a module"),
                "write something like `package.module:Class`",
            ),
        }
    }
}
