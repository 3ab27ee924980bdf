//! What only several packages together can get wrong.

use super::Faults;
use super::distribution::check_extra;
use crate::manifest::{Distribution, Extra, applies};
use crate::names::{Mode, PackageName};
use crate::source::{Place, Problem, Spanned};

/// What a package says of others. It is kept of every package that has a name, so that a
/// mistake elsewhere in the package does not hide one between packages.
#[derive(Debug)]
pub(super) struct Outline {
    pub name: Spanned<PackageName>,
    pub distributions: Vec<Distribution>,
    /// Whether there are `distribution` lines and every one was decoded.
    pub whole: bool,
    pub overlay: Option<Spanned<PackageName>>,
    pub requires: Vec<Spanned<PackageName>>,
    pub extras: Vec<Extra>,
    /// Packages in whose platform directories something is looked for.
    pub searched: Vec<Spanned<PackageName>>,
}

impl Outline {
    fn is_built(&self, mode: Mode) -> bool {
        self.distributions.iter().any(|d| applies(d.mode, mode))
    }
}

/// Checks packages against each other.
pub(super) fn packages(faults: &Faults, outlines: &[Outline]) {
    let find = |name: &PackageName| outlines.iter().find(|o| o.name.value == *name);
    for outline in outlines {
        for extra in &outline.extras {
            find(&extra.package.value).inspect(|target| check_extra(faults, extra, &target.distributions));
        }
        for required in &outline.requires {
            find(&required.value).inspect(|target| check_required(faults, outline, required, target));
        }
        for searched in &outline.searched {
            find(&searched.value).inspect(|target| check_searched(faults, searched, target));
        }
        if let Some(overlay) = &outline.overlay {
            find(&overlay.value).inspect(|target| check_overlay(faults, outline, overlay, target));
        }
    }
}

fn check_required(faults: &Faults, outline: &Outline, required: &Spanned<PackageName>, target: &Outline) {
    if outline.name.value == target.name.value {
        let problem = Problem::error(format!("package `{}` requires itself", outline.name.value));
        faults.report(problem.label(&required.place, "name another package here, or take the line away"));
    } else {
        check_modes(faults, outline, "requires", &required.place, target);
    }
}

/// Files go into the platform directory of the overlaid package, so that has to have one of its own.
fn check_overlay(faults: &Faults, outline: &Outline, overlay: &Spanned<PackageName>, target: &Outline) {
    let (name, under) = (&outline.name.value, &target.name.value);
    if name == under {
        let problem = Problem::error(format!("package `{name}` overlays itself"));
        faults.report(problem.label(&overlay.place, "name the package whose platform directory the files go into"));
    } else if let Some(further) = target.overlay.as_ref().filter(|further| further.value == *name) {
        // Both packages come by here; the first says it for both.
        if overlay.place.line() <= further.place.line() {
            let problem = Problem::error(format!("packages `{name}` and `{under}` overlay each other"));
            let problem = problem.label(&overlay.place, "this way").label(&further.place, "and back");
            faults.report(problem.help("one of them has to have a platform directory: take its `overlay` away"));
        }
    } else if let Some(further) = &target.overlay {
        let problem = Problem::error(format!("package `{name}` overlays `{under}`, which is an overlay itself"));
        let problem = problem.label(&overlay.place, "this package has no platform directory").label(&further.place, "because of this line");
        faults.report(problem.help(format!("overlay `{}` instead", further.value)));
    } else {
        check_modes(faults, outline, "overlays", &overlay.place, target);
    }
}

fn check_searched(faults: &Faults, searched: &Spanned<PackageName>, target: &Outline) {
    if let Some(overlay) = &target.overlay {
        let problem = Problem::error(format!("package `{}` has no platform directory of its own", searched.value));
        let problem = problem.label(&searched.place, "nothing can be found there").label(&overlay.place, "its files go there");
        faults.report(problem.help(format!("write \"{}\" instead", overlay.value)));
    }
}

/// What a package relies on has to be built whenever it is built itself.
fn check_modes(faults: &Faults, outline: &Outline, verb: &str, place: &Place, target: &Outline) {
    let lacks = |mode: &Mode| outline.is_built(*mode) && !target.is_built(*mode);
    let Some(mode) = Mode::ALL.into_iter().find(lacks).filter(|_| outline.whole && target.whole) else { return };
    let (name, other) = (&outline.name.value, &target.name.value);
    let problem = Problem::error(format!("package `{name}` {verb} `{other}`, which is not built in mode {mode}"));
    let problem = problem
        .label(place, format!("there is no `{other}` in mode {mode}"))
        .label(&target.name.place, format!("no distribution here counts in mode {mode}"));
    faults.report(problem.help(format!("give `{other}` a distribution for mode {mode}, or let `{name}` have none in it")));
}
