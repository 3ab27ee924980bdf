use std::collections::BTreeMap;

use super::package::Package;
use base::names::Form;

/// Packages of one name on both sides, and packages of one side.
pub(super) struct Pairs<'p> {
    pub both: Vec<(&'p Package, &'p Package)>,
    pub theirs: Vec<&'p Package>,
    pub ours: Vec<&'p Package>,
}

/// Pairs packages by family directory, distribution and form.
pub(super) fn pairs<'p>(theirs: &'p [Package], ours: &'p [Package]) -> Pairs<'p> {
    let key = |package: &'p Package| (package.title.as_str(), package.found.form == Form::Sdist);
    let mut by_key: BTreeMap<_, Vec<&Package>> = BTreeMap::new();
    for package in ours {
        by_key.entry(key(package)).or_default().push(package);
    }
    let mut pairs = Pairs { both: Vec::new(), theirs: Vec::new(), ours: Vec::new() };
    for package in theirs {
        // Several packages of one name are wheels for several interpreters: by the order of their
        // file names.
        let twins = by_key.get_mut(&key(package)).filter(|twins| !twins.is_empty());
        match twins {
            Some(twins) => pairs.both.push((package, twins.remove(0))),
            None => pairs.theirs.push(package),
        }
    }
    pairs.ours = by_key.into_values().flatten().collect();
    pairs
}
