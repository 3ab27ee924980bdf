//! Replaces changes that packages repeat from the selector by a reference to it, because every
//! package lists the names of all.

use super::contents::{Contents, Package};
use super::{FieldChange, PackageChange};
use plan::Form;

/// Fields with names of all packages.
const REPEATED: [&str; 3] = ["libraries", "packages", "selector"];

/// Shortens packages with the same changes of repeated fields as a selector's sdist.
pub(super) fn shorten(packages: &mut [PackageChange], sides: [&Contents<'_>; 2]) {
    let packages_of_sides = sides.into_iter().flat_map(|side| &side.packages);
    let sdists: Vec<String> = packages_of_sides
        .filter(|package| package.form == Form::Sdist)
        .map(Package::title)
        .collect();
    let selectors: Vec<(String, Vec<FieldChange>)> = packages
        .iter()
        .filter(|package| sdists.contains(&package.title))
        .map(|package| (package.title.clone(), repeated(package)))
        .collect();
    for package in packages.iter_mut().filter(|package| !sdists.contains(&package.title)) {
        let fields = repeated(package);
        let selector = selectors.iter().find(|(_, of_it)| !fields.is_empty() && *of_it == fields);
        if let Some((title, _)) = selector {
            package.fields.retain(|field| !REPEATED.contains(&&*field.field));
            package.fields.push(FieldChange {
                field: "names of the set".to_owned(),
                removed: Vec::new(),
                added: vec![format!("as in {title}")],
            });
        }
    }
}

fn repeated(package: &PackageChange) -> Vec<FieldChange> {
    let fields = package.fields.iter();
    fields.filter(|field| REPEATED.contains(&&*field.field)).cloned().collect()
}
