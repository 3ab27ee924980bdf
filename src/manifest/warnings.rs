//! What is doubtful in a manifest, though it can be meant.

use super::{Manifest, Package, RpathRule};
use crate::names::RelPath;
use crate::source::{Code, Place, Problem, Problems};

/// In the order of the file.
pub(super) fn of(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    for package in manifest.packages.values() {
        package.rpaths.iter().for_each(|rule| problems.extend(rpath(rule)));
        for alias in &package.aliases {
            let directory = alias.path.value.parent();
            problems.extend(directory.map_or_else(Problems::new, |d| elsewhere(&d, &alias.path.place)));
        }
        problems.extend(overlay(package));
    }
    problems
}

fn rpath(rule: &RpathRule) -> Problems {
    elsewhere(&rule.directory, &rule.package.place)
}

/// Libraries are installed below `lib`, `lib64` and the like.
fn elsewhere(directory: &RelPath, place: &Place) -> Problems {
    if directory.segments().any(|segment| segment.starts_with("lib")) {
        return Problems::new();
    }
    Problem::warning(Code::NotALibraryDirectory, format!("`{directory}` is hardly a directory of libraries"))
        .label(place, "no segment of it begins with `lib`")
        .help("correct the directory, if this was not meant")
        .into()
}

fn overlay(package: &Package) -> Problems {
    let Some(owner) = package.overlay.as_ref().filter(|owner| package.requires.iter().all(|r| r.value != owner.value)) else {
        return Problems::new();
    };
    Problem::warning(Code::OverlayNotRequired, format!("package `{}` overlays `{}` and does not require it", *package.name, owner.value))
        .label(&owner.place, "installed alone, its files lie in a directory that no package has")
        .help(format!("add the line `requires \"{}\"`", owner.value))
        .into()
}
