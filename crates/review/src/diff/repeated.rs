use super::contents::{Contents, Package};
use super::{FieldChange, PackageChange};
use plan::Form;

const REPEATED: [&str; 3] = ["libraries", "packages", "selector"];

pub(super) fn shorten(packages: &mut [PackageChange], sides: [&Contents<'_>; 2]) {
    let all = sides.into_iter().flat_map(|side| &side.packages);
    let sdists: Vec<String> =
        all.filter(|package| package.form == Form::Sdist).map(Package::title).collect();
    let selectors: Vec<(String, Vec<FieldChange>)> = packages
        .iter()
        .filter(|package| sdists.contains(&package.title))
        .map(|package| (package.title.clone(), repeated(package)))
        .collect();
    for package in packages.iter_mut().filter(|package| !sdists.contains(&package.title)) {
        let own = repeated(package);
        let same = selectors.iter().find(|(_, told)| !own.is_empty() && *told == own);
        if let Some((title, _)) = same {
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
