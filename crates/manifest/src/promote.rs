//! `promote`.

use super::Glob;
use crate::line::Scope;
use crate::reader::Node;
use base::names::RelPath;
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Names further files with the version, which `rockpack wheel promote` changes in addition to the files of rockpack.
/// Packages from other tools are promoted only if a line names them and the local part of their version ends with the
/// version (`2.10.0+git1a2b.example7.10.0rc1`): only this part changes.
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
    /// A distribution's name, or a glob over such names, in an index's normal form (PEP 503). The first line with a
    /// name counts for it.
    #[arg("NAME", "a distribution")]
    pub names: Vec<Spanned<Glob>>,
    /// Files that hold the version.
    #[child]
    pub files: Vec<VersionFile>,
}

/// Names files with the version as a value: in Python (`.py`) string literals, in JSON the value of a key, otherwise
/// the whole text. A value is replaced only if it is the version of this package or of the packages of rockpack.
#[derive(Debug, Clone, Line)]
#[line("version-file", example = r#"version-file "example/version.py" "example/_init.py""#)]
pub struct VersionFile {
    /// Paths in the wheel, or below its first directory; also in the archive of a devel package, which is read and
    /// packed anew then.
    #[each("GLOB", "a path")]
    pub glob: Glob,
    /// The key, of JSON files.
    #[prop("KEY", name = "json")]
    pub key: Option<String>,
    /// The reason why there may be no such file with the version; without it, that is an error in packages that
    /// rockpack did not make.
    #[prop("WHY")]
    pub optional: Option<String>,
}

/// Reports names that are not in an index's normal form.
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
    /// Returns whether it is about the distribution of this name, as indexes compare it.
    pub fn is_for(&self, name: &str) -> bool {
        let path = name.parse::<RelPath>();
        path.is_ok_and(|path| self.names.iter().any(|glob| glob.matches(&path)))
    }
}

impl VersionFile {
    /// Returns whether it is about this member of a package.
    pub fn is_meant(&self, member: &str) -> bool {
        let is = |path: &str| path.parse().is_ok_and(|path| self.glob.matches(&path));
        is(member) || member.split_once('/').is_some_and(|(_, below)| is(below))
    }
}
