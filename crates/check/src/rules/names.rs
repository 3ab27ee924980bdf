//! Names that some systems cannot have.

use base::names::windows;
use base::source::{Code, Severity};

use crate::{Finding, Package, Set};

pub(crate) const WINDOWS: &str = "invalid name on Windows";

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    set.packages
        .iter()
        .filter(|package| !package.is_only_for_linux())
        .flat_map(of_package)
        .collect()
}

/// A wheel for any platform is rarely meant for Windows, so only a Windows wheel has an error.
fn of_package<'p>(package: &'p Package<'_>) -> impl Iterator<Item = Finding> + 'p {
    let tags = package.tags.as_ref();
    let is_windows =
        tags.is_some_and(|tags| tags.platform.split('.').all(|tag| tag.starts_with("win")));
    let severity = if is_windows { Severity::Error } else { Severity::Warning };
    package.installed().filter_map(move |file| {
        // The reader refuses these on every system.
        let is_refused = |part: &&str| part.contains(|c: char| c.is_control() || c == '\\');
        let mut parts = file.path().split('/').filter(|part| *part != ".." && !is_refused(part));
        let why = parts.find_map(windows::refusal)?;
        let finding = Finding::error(Code::UnsafeName, WINDOWS).because(why);
        Some(Finding { severity, ..finding }.of(&*file.member).within(&package.file))
    })
}
