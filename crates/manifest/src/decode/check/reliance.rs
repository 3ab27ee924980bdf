//! Packages that rely on others.

use crate::decode::Faults;
use crate::{Distribution, Extra, Package, Pick};
use base::names::System;
use base::source::{Code, Place, Problem};
use base::target::{Per, Target};

/// Reports reliance on a package that is not built in the same modes; returns whether it did.
pub(super) fn check_modes(
    faults: &Faults,
    package: &Package,
    verb: &str,
    place: &Place,
    target: &Package,
) -> bool {
    let lacks = |at: &Target| {
        package.distribution_for(*at).is_some() && target.distribution_for(*at).is_none()
    };
    let Some(at) =
        Target::ALL.into_iter().find(lacks).filter(|_| package.is_whole() && target.is_whole())
    else {
        return false;
    };
    let mode = shown(at, |other| lacks(&other));
    let (name, other) = (&package.name.value, &target.name.value);
    let problem = Problem::error(
        Code::NotBuiltInMode,
        format!("package `{name}` {verb} `{other}`, which is not built in {mode}"),
    );
    let problem = problem
        .label(place, format!("there is no `{other}` in {mode}"))
        .label(&target.name.place, format!("no distribution for {mode}"));
    faults.report(problem.help(format!(
        "add a distribution of `{other}` for {mode}, or remove the distribution of `{name}`"
    )));
    true
}

pub(super) fn check_targets(
    faults: &Faults,
    package: &Package,
    verb: &str,
    place: &Place,
    target: &Package,
) {
    let (name, other) = (&package.name.value, &target.name.value);
    let others = |at: Target| made_for_others(package, target, at);
    let Some((at, several)) = Target::ALL.into_iter().find_map(|at| Some((at, others(at)?))) else {
        return;
    };
    let mode = shown(at, |other| others(other).is_some());
    let problem = Problem::error(
        Code::OtherTarget,
        format!(
            "package `{name}` {verb} `{other}`, which has a distribution for each {} in {mode}",
            &several.per
        ),
    );
    let problem = problem.label(place, "ambiguous").label(
        &several.name.place,
        "several \
            distributions",
    );
    faults.report(problem.help(format!(
        "make `{name}` for each {} too, or let an extra of the selector install `{other}`",
        &several.per
    )));
}

/// Names the target of a fault, with its system if the other system has no such fault.
fn shown(target: Target, is_wrong: impl Fn(Target) -> bool) -> String {
    let others = System::ALL.map(|system| Target { system, ..target });
    if others.into_iter().all(is_wrong) {
        format!("mode {}", target.mode)
    } else {
        format!("mode {} on {}", target.mode, target.system.as_str())
    }
}

fn made_for_others<'t>(
    package: &Package,
    target: &'t Package,
    at: Target,
) -> Option<&'t Distribution> {
    let (own, other) = (package.distribution_for(at)?, target.distribution_for(at)?);
    (other.per != Per::None && other.per != own.per).then_some(other)
}

pub(super) fn check_offered(faults: &Faults, package: &Package, extra: &Extra, target: &Package) {
    if !package.is_whole() || !target.is_whole() {
        return;
    }
    let offered = |at: &Target| extra.when.holds(*at) && package.distribution_for(*at).is_some();
    let offered: Vec<Target> = Target::ALL.into_iter().filter(offered).collect();
    let built: Vec<&Distribution> =
        offered.iter().filter_map(|at| target.distribution_for(*at)).collect();
    let other = &target.name.value;
    if built.is_empty() {
        let problem = Problem::error(
            Code::ExtraNeverOffered,
            format!("no mode offers the extra `{}`", extra.name.value),
        )
        .label(&extra.package.place, format!("`{other}` is not built in the modes of this line"))
        .label(&target.name.place, "its distributions are declared here");
        return faults.report(problem.help("correct the package or the mode, or remove the line"));
    }
    if extra.at_least > 1 && built.iter().all(|d| d.per == Per::None) {
        let problem = Problem::error(
            Code::ExtraNeverOffered,
            format!("no mode offers the extra `{}`", extra.name.value),
        )
        .label(&extra.name.place, format!("needs {} distributions", extra.at_least))
        .label(&built[0].name.place, "the only distribution");
        return faults.report(
            problem.help("remove `at-least`, or name a package that is made for each target"),
        );
    }
    let several = offered.iter().find_map(|at| made_for_others(package, target, *at));
    if let Some(several) = several.filter(|_| extra.pick == Pick::Only) {
        let problem = Problem::error(
            Code::OtherTarget,
            format!(
                "extra `{}` is ambiguous: `{other}` has several distributions",
                extra.name.value
            ),
        )
        .label(&extra.package.place, "ambiguous")
        .label(&several.name.place, "several distributions");
        faults.report(problem.help("add offer=\"each\" or offer=\"all\""));
    }
}
