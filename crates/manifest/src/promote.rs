//! Packages that carry the version in files of theirs, or in the local part of their own version.

use super::Glob;
use base::names::RelPath;
use base::source::Spanned;

/// `promote "torch" "torchvision" { version-file "*/version.py" }`: what `rockpack wheel promote` changes of packages
/// beside what rockpack itself wrote.
#[derive(Debug, Clone)]
pub struct PromoteRule {
    /// The distributions, as indexes compare them.
    pub names: Vec<Spanned<Glob>>,
    /// Files that hold the version.
    pub files: Vec<VersionFile>,
}

/// `version-file "a/version.py" json="KEY" optional="…"`: one for each glob.
#[derive(Debug, Clone)]
pub struct VersionFile {
    /// Paths in the package, or below its first directory.
    pub glob: Glob,
    /// The key that holds the version, of JSON.
    pub key: Option<String>,
    /// Why there may be no such file, or none that holds the version.
    pub optional: Option<String>,
}

impl PromoteRule {
    /// Whether it is about the distribution of this name, as indexes compare it.
    pub fn is_for(&self, name: &str) -> bool {
        let path = name.parse::<RelPath>();
        path.is_ok_and(|path| self.names.iter().any(|glob| glob.matches(&path)))
    }
}

impl VersionFile {
    /// Whether it is about this member of a package.
    pub fn is_meant(&self, member: &str) -> bool {
        let is = |path: &str| path.parse().is_ok_and(|path| self.glob.matches(&path));
        is(member) || member.split_once('/').is_some_and(|(_, below)| is(below))
    }
}
