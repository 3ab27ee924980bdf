//! Imports of PE files: each DLL must be in the set or on the system.

use std::collections::BTreeSet;

use super::{Finding, Package};
use base::source::Code;

#[derive(Debug)]
pub(super) struct Imports {
    pub member: String,
    /// Names of the DLLs, including delay imports.
    pub libraries: Vec<String>,
}

pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub fn new(packages: &[Package]) -> Self {
        let importing = packages.iter().any(|package| !package.imports.is_empty());
        let packages = packages.iter().filter(|_| importing);
        let all = packages.flat_map(|p| p.installed.keys().chain(&p.archived));
        let names = all.filter_map(|path| path.rsplit('/').next());
        Self(names.map(str::to_ascii_lowercase).collect())
    }

    pub fn check(&self, package: &Package, on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
        let mut found = Vec::new();
        for Imports { member, libraries } in &package.imports {
            let has = |library: &&String| {
                self.0.contains(&library.to_ascii_lowercase()) || on_system(library)
            };
            for library in libraries.iter().filter(|library| !has(library)) {
                let what =
                    format!("neither the packages nor the system have the imported `{library}`");
                let finding = Finding::warning(Code::ImportLeadsNowhere, what);
                found.push(finding.of(&**member).to(&**library).within(&package.file));
            }
        }
        found
    }
}
