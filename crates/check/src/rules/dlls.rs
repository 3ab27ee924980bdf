//! Imports of PE files: each DLL must be in the set or on the system.

use std::collections::BTreeSet;

use base::source::Code;

use crate::{Finding, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let files = || set.packages.iter().flat_map(|package| &package.files);
    if !files().any(|file| file.imports().next().is_some()) {
        return Vec::new();
    }
    let names: BTreeSet<String> = files().map(|file| file.name().to_ascii_lowercase()).collect();
    let mut found = Vec::new();
    for package in &set.packages {
        for file in &package.files {
            let has = |library: &&str| {
                names.contains(&library.to_ascii_lowercase()) || set.environment.on_system(library)
            };
            for library in file.imports().filter(|library| !has(library)) {
                let what =
                    format!("neither the packages nor the system have the imported `{library}`");
                let finding = Finding::warning(Code::ImportLeadsNowhere, what);
                found.push(finding.of(&*file.member).to(library).within(&package.file));
            }
        }
    }
    found
}
