use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::super::contents::{Contents, Package};
use base::names::Requirement;

/// New packages by name, and packages that pip installs with each.
pub(super) struct Offered<'s, 'a> {
    by_name: HashMap<String, Vec<&'s Package<'a>>>,
    closures: RefCell<HashMap<String, Rc<BTreeSet<String>>>>,
}

impl<'s, 'a> Offered<'s, 'a> {
    pub fn new(new: &'s Contents<'a>) -> Self {
        let mut by_name: HashMap<String, Vec<&Package<'a>>> = HashMap::new();
        for package in &new.packages {
            by_name.entry(package.name.normalized()).or_default().push(package);
        }
        Self { by_name, closures: RefCell::default() }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// True if users of `package` have `other` too.
    pub fn installs(&self, package: &Package<'_>, other: &Package<'_>) -> bool {
        self.brings_name(package, &other.name.normalized())
    }

    /// Like [`Self::brings`], by normalized name.
    pub fn brings_name(&self, package: &Package<'_>, name: &str) -> bool {
        self.closure(&package.name.normalized()).contains(name)
    }

    pub fn closure(&self, name: &str) -> Rc<BTreeSet<String>> {
        if let Some(known) = self.closures.borrow().get(name) {
            return Rc::clone(known);
        }
        let (mut names, mut next) = (BTreeSet::new(), vec![name.to_owned()]);
        while let Some(name) = next.pop() {
            if !names.contains(&name) {
                let packages = self.by_name.get(&name).into_iter().flatten();
                next.extend(packages.flat_map(|package| required(package)));
                names.insert(name);
            }
        }
        let names = Rc::new(names);
        self.closures.borrow_mut().insert(name.to_owned(), Rc::clone(&names));
        names
    }
}

/// Normalized names that pip installs with a package, without extras.
pub(super) fn required(package: &Package<'_>) -> BTreeSet<String> {
    let requirements =
        package.metadata.requires_dist.iter().filter_map(|text| text.parse::<Requirement>().ok());
    requirements.filter(|requirement| requirement.of_extras.is_empty()).map(|it| it.name).collect()
}
