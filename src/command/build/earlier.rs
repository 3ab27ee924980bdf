use base::names::RelPath;
use base::source::{Code, Problem};
use build::execute::Earlier;
use manifest::Manifest;
use plan::Plan;
use wheel::package::distribution_of;

use crate::cli::BuildArgs;
use crate::ui;

/// Returns true if `plan` replaces a package of an earlier build: with `--only`, other versions of
/// its packages, otherwise all except Python projects.
pub fn is_replaced(args: &BuildArgs, manifest: &Manifest, plan: &Plan, path: &RelPath) -> bool {
    // The set requires them.
    if plan.earlier.iter().any(|earlier| earlier.file == path.file_name()) {
        return false;
    }
    let Some(name) = distribution_of(path.file_name()).filter(|_| !args.keep) else {
        return false;
    };
    if args.set.only.is_empty() {
        let python = &manifest.python;
        let projects = python.projects.iter().map(|project| &project.name.value);
        let mut sources = projects.chain(python.wheels.iter().map(|wheel| &wheel.name.value));
        return sources.all(|source| source.as_str() != name);
    }
    let mut made = plan.distributions.iter();
    made.any(|d| d.name.normalized() == name && Some(&d.directory) == path.parent().as_ref())
}

/// Warns of packages of earlier builds that changed after their build.
pub fn warn_of_changes(earlier: &Earlier) {
    for path in &earlier.changed {
        let message = format!("{path} was changed after its build");
        let help = "the file stays, but SHA256SUMS no longer lists it";
        ui::show_problems(&Problem::warning(Code::ChecksumList, message).help(help).into());
    }
}
