//! `ignore`.

use super::Glob;
use crate::line::Scope;
use crate::reader::Node;
use crate::text::FindingName;
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Accepts an expected finding of `rockpack wheel verify` or warning of a plan; it is counted, and shown with `--verbose`. With the code `loss`, accepts a loss of the change that adds the line, for `rockpack diff`.
#[derive(Debug, Clone, Line)]
#[line(
    "ignore",
    once,
    check(to_of_plans(code, to)),
    example = r#"ignore "rpath-leads-nowhere" in="lib/fft/**" to="**/plugins" reason="people fill it""#
)]
pub struct IgnoreRule {
    /// A finding, as messages name it; of a plan's warnings: unresolved-library, library-by-luck,
    /// library-twice or missing-library; of a difference: loss.
    #[arg("CODE", "the code of a finding", via = FindingName)]
    pub code: Spanned<Code>,
    /// Of this package only.
    #[prop("PACKAGE", resolve, key)]
    pub package: Option<Spanned<PackageName>>,
    /// In these files only: paths in the wheel, or below its platform directory; for a library that
    /// the runtime finds by name, its pattern; for a loss, also the name of a command, extra or
    /// distribution.
    #[prop("GLOB", name = "in", key)]
    pub glob: Option<Glob>,
    /// Only rpaths to these directories, relative to site-packages.
    #[prop("GLOB", key)]
    pub to: Option<Glob>,
    /// Reason why it is accepted.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why there may be no such finding; without it, a warning.
    #[prop("WHY")]
    pub optional: Option<String>,
}

fn to_of_plans(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    code: Option<&Spanned<Code>>,
    to: Option<&Spanned<Glob>>,
) {
    if let (Some(code), Some(to)) = (code, to)
        && !Code::OF_PACKAGES.contains(&code.value)
    {
        let message = format!("`ignore \"{}\"` takes no `to`", code.value);
        let problem = Problem::error(Code::UnknownProperty, message);
        node.report(problem.label(&to.place, "only findings of packages have an rpath"));
    }
}

impl IgnoreRule {
    /// Returns whether it is about warnings of plans.
    pub fn is_of_plans(&self) -> bool {
        Code::OF_PLANS.contains(&self.code.value)
    }

    /// Returns whether it is about findings of packages.
    pub fn is_of_packages(&self) -> bool {
        Code::OF_PACKAGES.contains(&self.code.value)
    }

    /// Returns whether it expects this warning about a file of a package.
    pub fn expects(&self, code: Code, package: &PackageName, path: &str) -> bool {
        self.accepts(code, Some(package), path)
    }

    /// Returns whether it accepts the code for a file or name, of a package if known.
    pub fn accepts(&self, code: Code, package: Option<&PackageName>, path: &str) -> bool {
        let within = |glob: &Glob| path.parse::<RelPath>().is_ok_and(|path| glob.matches(&path));
        self.code.value == code
            && self.package.as_ref().is_none_or(|name| Some(&name.value) == package)
            && self.glob.as_ref().is_none_or(within)
    }
}
