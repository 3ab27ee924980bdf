//! `promote`.

use super::Glob;
use crate::line::Scope;
use crate::reader::Node;
use base::names::RelPath;
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Names files with the version for `rockpack wheel promote`, beyond the files that rockpack wrote.
/// Packages that the manifest does not declare are promoted only if a line names them and the local
/// part of their version ends with the version of the others (`2.10.0+git1a2b.example7.10.0rc1`):
/// only that part changes.
#[derive(Debug, Clone, Line)]
#[line(
    "promote",
    once,
    check(check_names(names)),
    example = r#"promote "example-torch" "example-torch-*" {
    version-file "*/version.py"
}"#
)]
pub struct PromoteRule {
    /// A distribution, or a glob over distributions, in an index's normal form (PEP 503). The first
    /// line with a name counts for it.
    #[arg("NAME", "a distribution")]
    pub names: Vec<Spanned<Glob>>,
    /// Files with the version.
    #[child]
    pub files: Vec<VersionFile>,
}

/// Names files with the version as a value: in Python (`.py`) string literals, in JSON the value of
/// a key, otherwise the whole text. A value is replaced if it is exactly the version of the
/// package, or of the packages of the manifest. In modules of packages that rockpack did not make,
/// `NAME.append("TARGET")` lists a target, and goes with it.
#[derive(Debug, Clone, Line)]
#[line("version-file", example = r#"version-file "example/version.py" "example/_init.py""#)]
pub struct VersionFile {
    /// Paths in the wheel, or below its first directory; also in the archive of a devel package,
    /// which is then packed anew.
    #[each("GLOB", "a path")]
    pub glob: Glob,
    /// Key in JSON files.
    #[prop("KEY", name = "json")]
    pub key: Option<String>,
    /// Reason why no file may have the version; without it, an error in packages that rockpack did
    /// not make.
    #[prop("WHY")]
    pub optional: Option<String>,
}

fn check_names(node: &Node<'_>, _: &Scope<'_, '_>, names: &[Spanned<Glob>]) {
    let odd = |name: &str| name.contains('/') || name != name.to_lowercase();
    for name in names.iter().filter(|name| odd(name.as_str())) {
        let message = format!("`{}` is not a distribution name", name.value);
        let label = "use lower case, with `-` between words";
        let problem = Problem::error(Code::InvalidText, message).label(&name.place, label);
        node.report(problem.help("write it like \"example-torch\" or \"example-*\""));
    }
}

impl PromoteRule {
    /// Returns whether it is about this distribution, as indexes compare it.
    pub fn is_for(&self, name: &str) -> bool {
        let path = name.parse::<RelPath>();
        path.is_ok_and(|path| self.names.iter().any(|glob| glob.matches(&path)))
    }
}

impl VersionFile {
    /// Returns whether it is about this member.
    pub fn is_meant(&self, member: &str) -> bool {
        let matches = |path: &str| path.parse().is_ok_and(|path| self.glob.matches(&path));
        matches(member) || member.split_once('/').is_some_and(|(_, below)| matches(below))
    }
}
