//! `variant`.

use crate::line::Scope;
use crate::reader::{Faults, Node};
use crate::text::checked_text;
use crate::{Distribution, PackageKind, Requirement, Template};
use base::names::{PackageName, VariantLabel};
use base::source::{Code, Problem, Spanned};
use base::target::Per;
use manifest_derive::Line;

/// Experimental: makes wheel variants (PEP 825) of the choice, one for each ISA, which requires the
/// package's distribution for it, one with the label `null`, and the file by which installers find
/// them. The plain wheel stays.
#[derive(Debug, Clone, Line)]
#[line(
    "variant",
    check(check_label(label)),
    example = r#"variant "{isa}" package="device" namespace="ex" feature="arch" provider="ex" plugin="ex:P""#
)]
pub struct VariantRule {
    /// Last part of each file name, with `{isa}`.
    #[arg("LABEL", "a label", shown = r#""{isa}""#)]
    pub label: Spanned<Template>,
    /// The package, with one distribution for each ISA.
    #[prop(resolve = PackageKind::Runtime)]
    pub package: Spanned<PackageName>,
    /// Namespace of the property.
    #[prop(via = Property)]
    pub namespace: String,
    /// The property's name; its values are ISAs.
    #[prop(via = Property)]
    pub feature: String,
    /// Requirement (PEP 508) of the detector of a machine's values. Installers run it only if users
    /// let them.
    #[prop]
    pub provider: Requirement,
    /// The object in it that detects.
    #[prop("MODULE:OBJECT", via = Plugin)]
    pub plugin: String,
}

/// Reports a label that is the same for two ISAs, or that cannot end a file name.
fn check_label(node: &Node<'_>, _: &Scope<'_, '_>, label: Option<&Spanned<Template>>) {
    let Some(label) = label else { return };
    let fills = |placeholder| Per::Isa.placeholder() == Some(placeholder);
    if !label.has_placeholder() || !label.placeholders().all(fills) {
        let message = format!("the label `{}` is the same for every ISA", label.value);
        let problem = Problem::error(Code::PlaceholderMissing, message);
        node.report(problem.label(&label.place, "add `{isa}`, and no other placeholder"));
    } else if let Err(error) = label.filled().parse::<VariantLabel>() {
        let message = format!("`{}` is not a label of a wheel variant", label.value);
        let problem = Problem::error(Code::InvalidText, message);
        node.report(problem.label(&label.place, error.reason));
    }
}

pub(crate) fn check_package(faults: &Faults, rule: &VariantRule, distributions: &[Distribution]) {
    let Some(unsplit) = distributions.iter().find(|d| d.per != Per::Isa) else { return };
    let message = format!("package `{}` is not split by ISA", rule.package.value);
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&rule.package.place, "each variant requires the distribution of its ISA")
        .label(&unsplit.name.place, format!("split by per=\"{}\"", unsplit.per.word()));
    faults.report(problem.help("name a package with per=\"isa\""));
}

checked_text!(
    Property,
    |text: &str| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !text.is_empty() && text.chars().all(fine)
    },
    "is not part of a variant property",
    "use lower-case letters, digits and `_`"
);

checked_text!(
    Plugin,
    |text: &str| {
        let name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let parts = text.split_once(':');
        parts.is_some_and(|(module, object)| module.split('.').chain(object.split('.')).all(name))
    },
    "is not an object of a module",
    "write it like `package.module:Class`"
);
