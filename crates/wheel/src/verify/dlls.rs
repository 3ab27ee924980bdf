//! What PE files import: every DLL has to be the set's or the system's.

use std::collections::BTreeSet;

use super::{Finding, Package};
use base::source::Code;

/// The DLLs that a member imports.
#[derive(Debug)]
pub(super) struct Imports {
    /// The member.
    pub member: String,
    /// Those that are loaded with it, and those that are loaded when they are first called.
    pub libraries: Vec<String>,
}

/// The names of the files that the packages install, in lower case: Windows minds no case.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub fn new(packages: &[Package]) -> Self {
        let importing = packages.iter().any(|package| !package.imports.is_empty());
        let packages = packages.iter().filter(|_| importing);
        let all = packages.flat_map(|p| p.installed.keys().chain(&p.archived));
        let names = all.filter_map(|path| path.rsplit('/').next());
        Self(names.map(str::to_ascii_lowercase).collect())
    }

    /// What a package's files import and nobody has; `on_system` tells what the system has.
    pub fn check(&self, package: &Package, on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
        let mut found = Vec::new();
        for Imports { member, libraries } in &package.imports {
            let has = |library: &&String| {
                self.0.contains(&library.to_ascii_lowercase()) || on_system(library)
            };
            for library in libraries.iter().filter(|library| !has(library)) {
                let what =
                    format!("imports `{library}`, which no package of the set has, nor the system");
                let finding = Finding::warning(Code::ImportLeadsNowhere, what);
                found.push(finding.of(&**member).to(&**library).within(&package.file));
            }
        }
        found
    }
}
