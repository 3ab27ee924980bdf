//! Paths of one package that file systems without case or with another normalization take for one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::names::{Lookalikes, folded};
use base::source::{Code, Severity};

use crate::{Finding, Package, Scheme, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    set.packages.iter().flat_map(of_package).collect()
}

/// Other systems than Linux lose one of the files.
fn of_package(package: &Package<'_>) -> Vec<Finding> {
    let severity = if package.is_only_for_linux() { Severity::Warning } else { Severity::Error };
    let mut files: Vec<_> = package.installed().collect();
    files.sort_by_key(|file| (file.scheme, file.path()));
    files.dedup_by_key(|file| (file.scheme, file.path()));
    let mut seen: BTreeMap<(Scheme, Cow<'_, str>), String> = BTreeMap::new();
    let mut found = Vec::new();
    for file in files {
        let shown = file.to_string();
        let Some(other) = seen.insert((file.scheme, folded(file.path())), shown.clone()) else {
            continue;
        };
        let Lookalikes { differ_in, one, other } = Lookalikes::new(&shown, &other);
        let what = format!("name that differs from another member only in {differ_in}");
        let finding = Finding::error(Code::CaseClash, what).of(one).because(format!("`{other}`"));
        found.push(Finding { severity, ..finding }.within(&package.file));
    }
    found
}
