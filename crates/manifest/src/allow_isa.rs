//! `allow-isa`.

use super::Glob;
use crate::line::Scope;
use crate::reader::Node;
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// Accepts device code of an ISA in a package for another ISA, or for none. A plan finds it by
/// names of files, `rockpack wheel verify` also by content.
#[derive(Debug, Clone, Line)]
#[line(
    "allow-isa",
    once,
    check(name_a_part(glob)),
    example = r#"allow-isa "share/tuning/**" reason="the library reads the parameters of all GPUs""#
)]
pub struct AllowIsaRule {
    /// Installed paths of files; `*` stays in one directory, `**` spans them, `a/**` is all below
    /// `a`.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// In this package only.
    #[prop("PACKAGE", resolve, key)]
    pub package: Option<PackageName>,
    /// Reason why the package has it.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why there may be no such file; without it, a warning.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

fn name_a_part(node: &Node<'_>, _: &Scope<'_, '_>, globs: &[Spanned<Glob>]) {
    for glob in globs.iter().filter(|glob| glob.word().is_none()) {
        let message = format!("`{}` accepts device code in every file", glob.as_str());
        let problem = Problem::error(Code::TooWide, message);
        let problem = problem.label(&glob.place, "matches every path");
        node.report(problem.help("name the files: \"share/tuning/**\""));
    }
}

impl AllowIsaRule {
    /// Returns whether it accepts a file; the path is below the platform directory.
    pub fn is_about(&self, package: &PackageName, path: &RelPath) -> bool {
        self.package.as_ref().is_none_or(|name| name == package) && self.glob.matches(path)
    }
}
