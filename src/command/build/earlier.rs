//! Packages that earlier builds left in the destination: which of them go.

use rockpack::execute::Earlier;
use rockpack::manifest::Manifest;
use rockpack::names::RelPath;
use rockpack::package::distribution_of;
use rockpack::plan::Plan;
use rockpack::source::{Code, Problem};

use crate::cli::BuildArgs;
use crate::ui;

/// Whether a package of an earlier build goes when those of `plan` are put in place.
///
/// With `--only`, the packages that this build makes anew replace theirs of other versions. Without,
/// this build's packages are all that there is to be, apart from those of Python projects.
pub fn is_replaced(args: &BuildArgs, manifest: &Manifest, plan: &Plan, path: &RelPath) -> bool {
    let Some(name) = distribution_of(path.file_name()).filter(|_| !args.keep) else {
        return false;
    };
    if args.set.only.is_empty() {
        let python = &manifest.python;
        let projects = python.projects.iter().map(|project| &project.name.value);
        let mut others = projects.chain(python.wheels.iter().map(|wheel| &wheel.name.value));
        return others.all(|other| other.as_str() != name);
    }
    let mut made = plan.distributions.iter();
    made.any(|d| d.name.normalized() == name && Some(&d.directory) == path.parent().as_ref())
}

/// Whether a package of an earlier build is of a project or wheel of `plan`: made anew, or not any more.
pub fn is_of_project(args: &BuildArgs, plan: &Plan, path: &RelPath) -> bool {
    let projects = plan.projects.iter().map(|project| &project.name);
    let mut ours = projects.chain(plan.wheels.iter().map(|wheel| &wheel.name));
    !args.keep
        && distribution_of(path.file_name())
            .is_some_and(|name| ours.any(|other| other.as_str() == name))
}

/// Says which of them somebody changed.
pub fn tell(earlier: &Earlier) {
    for path in &earlier.changed {
        let what = format!("{path} was changed after an earlier build made it");
        let help = "it is left as it is, and SHA256SUMS no longer lists it";
        ui::show_problems(&Problem::warning(Code::ChecksumList, what).help(help).into());
    }
}
