//! `--only`: which packages, projects and wheels are made.

use std::fmt;
use std::str::FromStr;

use super::Request;
use super::instance::Instance;
use super::project;
use crate::manifest::{Glob, Manifest};
use crate::names::{DistName, Mode, PackageName, RelPath};
use crate::source::{Code, Problem, Problems, nearest};

/// What `--only` names: a package, project or wheel by its name in the manifest, or a distribution by its
/// own. `*` and `?` stand for any characters and for one; case, `_`, `.` and `-` do not tell names apart.
#[derive(Debug, Clone)]
pub struct OnlyName {
    text: String,
    glob: Glob,
}

/// A text that is not a name and not a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a name: names have letters, digits, `-`, `_` and `.`, and patterns `*` and `?` too"
)]
pub struct OnlyNameError(String);

impl OnlyName {
    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a package or distribution of this name is meant.
    pub fn matches(&self, name: &str) -> bool {
        normal(name).parse::<RelPath>().is_ok_and(|name| self.glob.matches(&name))
    }
}

impl FromStr for OnlyName {
    type Err = OnlyNameError;

    fn from_str(text: &str) -> Result<Self, OnlyNameError> {
        let text = text.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.*?".contains(c);
        let error = || OnlyNameError(text.to_owned());
        // No name is longer than a file's name can be.
        if text.is_empty() || text.len() > 255 || !text.chars().all(fits) {
            return Err(error());
        }
        let glob = Glob::new(&normal(text)).map_err(|_| error())?;
        Ok(Self { text: text.to_owned(), glob })
    }
}

impl fmt::Display for OnlyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// As installers compare names.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

impl Request {
    /// Whether something of this name in the manifest is to be made, whatever its distributions are called.
    pub(super) fn wants(&self, name: &PackageName) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.matches(name.as_str()))
    }

    /// Whether a distribution of a package is to be made.
    pub(super) fn wants_distribution(&self, package: &PackageName, name: &DistName) -> bool {
        self.wants(package) || self.only.iter().any(|only| only.matches(name.as_str()))
    }
}

/// How many names of distributions a message lists.
const MOST: usize = 8;

/// Every word of `--only` has to name something that is built in this mode, `all` being the distributions.
pub(super) fn check(
    manifest: &Manifest,
    mode: Mode,
    all: &[Instance<'_>],
    request: &Request,
) -> Problems {
    let packages = manifest.packages.iter().filter(|(_, p)| p.distribution(mode).is_some());
    let packages = packages.map(|(name, _)| name).chain(project::names(manifest));
    let packages: Vec<&str> = packages.map(PackageName::as_str).collect();
    let mut distributions: Vec<&str> = all.iter().map(|i| i.name.as_str()).collect();
    distributions.dedup();
    let known = |only: &OnlyName| packages.iter().chain(&distributions).any(|n| only.matches(n));
    let mut problems = Problems::new();
    for unknown in request.only.iter().filter(|only| !known(only)) {
        let near = [&packages, &distributions]
            .map(|names| nearest(unknown.as_str(), names.iter().copied()));
        let near: Vec<String> = near.iter().flatten().map(|name| format!("`{name}`")).collect();
        let hint = match &near[..] {
            [] => String::new(),
            near => format!("did you mean {}? ", near.join(" or ")),
        };
        let shown = distributions.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
        let rest = match distributions.len().saturating_sub(MOST) {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        let text = format!("--only: there is no package `{unknown}` in {mode} mode");
        problems.push(Problem::usage(Code::UnknownPackage, text).help(format!(
            "{hint}packages are: {}; their distributions are: {shown}{rest}",
            packages.join(", ")
        )));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_installers_do_and_patterns_match_many() {
        let only = |text: &str| text.parse::<OnlyName>().unwrap();
        assert!(only("core").matches("core") && !only("core").matches("cores"));
        assert!(only("Some_SDK.core").matches("some-sdk-core"));
        assert!(only("x-device-*").matches("x-device-942"));
        assert!(only(" x9?2 ").matches("x942") && !only("x9?2").matches("x9402"));
        for text in ["", " ", "a b", "a/b", "{a,b}", "[a]", &"a".repeat(256)] {
            assert!(text.parse::<OnlyName>().is_err(), "{text:?}");
        }
    }
}
