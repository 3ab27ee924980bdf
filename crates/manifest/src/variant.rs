//! Variants of a choice's wheel.

use super::{Requirement, Template};
use base::names::PackageName;
use base::source::Spanned;

/// `variant "{isa}" package="device" namespace="…" feature="…" provider="…" plugin="…"`: a wheel for each
/// distribution of a package, which requires that one (PEP 825).
#[derive(Debug, Clone)]
pub struct VariantRule {
    /// The label of each, with `{isa}`.
    pub label: Spanned<Template>,
    /// The package of whose distributions each requires one.
    pub package: Spanned<PackageName>,
    /// The namespace of the property that machines are compared by.
    pub namespace: String,
    /// Its name; the values are ISAs.
    pub feature: String,
    /// What installs the program that tells a machine's values.
    pub provider: Requirement,
    /// The object in it that does.
    pub plugin: String,
}
