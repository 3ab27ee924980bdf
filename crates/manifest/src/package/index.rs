//! `index` in a selector.

use crate::RequireRule;
use crate::line::{Scope, inner};
use crate::reader::Node;
use base::names::PackageName;
use base::source::{Code, Problem, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// Makes an additional index of the same packages, with a selector of the same name and version
/// that requires more. The selector is written to `dist/NAME`; `rockpack index write` writes the
/// pages to `NAME/simple`, `rockpack index publish` puts all below `NAME`, or on the shelves that
/// have `index="NAME"` in the manifest.
#[derive(Debug, Clone, Line)]
#[line(
    "index",
    within = inner,
    once,
    check(check_name(name)),
    example = "index \"whl\" {\n    requires \"device\" offer=\"all\"\n}"
)]
pub struct IndexRule {
    /// Name of the index and its directory.
    #[arg("NAME", "a name")]
    pub name: Spanned<PackageName>,
    /// Targets.
    #[when]
    pub when: Condition,
    /// Requires another package, at the same version, only in this index.
    #[child(
        times = AtLeastOnce,
        name = "requires",
        usage = r#"requires "PACKAGE" offer="all" compatible="GLOB" mode="…" on="…""#,
        example = r#"requires "device" offer="all""#
    )]
    pub requires: Vec<RequireRule>,
}

const PAGES: &str = "simple";

fn check_name(node: &Node<'_>, _: &Scope<'_, '_>, name: Option<&Spanned<PackageName>>) {
    if let Some(name) = name.filter(|name| name.as_str() == PAGES) {
        let message = format!("`{PAGES}` cannot be the name of an index");
        let problem = Problem::error(Code::InvalidText, message)
            .label(&name.place, "reserved for the pages of every index");
        node.report(problem.help("choose another name, such as `whl`"));
    }
}
