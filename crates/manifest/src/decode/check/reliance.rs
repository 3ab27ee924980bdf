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
    let is_missing = |built_for: &Target| {
        package.distribution_for(*built_for).is_some()
            && target.distribution_for(*built_for).is_none()
    };
    let Some(missing) = Target::ALL
        .into_iter()
        .find(is_missing)
        .filter(|_| package.is_whole() && target.is_whole())
    else {
        return false;
    };
    let mode = text_of(missing, |candidate| is_missing(&candidate));
    let (name, target_name) = (&package.name.value, &target.name.value);
    let problem = Problem::error(
        Code::NotBuiltInMode,
        format!("package `{name}` {verb} `{target_name}`, which is not built in {mode}"),
    );
    let problem = problem
        .label(place, format!("there is no `{target_name}` in {mode}"))
        .label(&target.name.place, format!("no distribution for {mode}"));
    faults.report(problem.help(format!(
        "add a distribution of `{target_name}` for {mode}, or remove the distribution of `{name}`"
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
    let (name, target_name) = (&package.name.value, &target.name.value);
    let split_for = |candidate: Target| made_for_others(package, target, candidate);
    let Some((candidate, several)) =
        Target::ALL.into_iter().find_map(|candidate| Some((candidate, split_for(candidate)?)))
    else {
        return;
    };
    let mode = text_of(candidate, |candidate| split_for(candidate).is_some());
    let problem = Problem::error(
        Code::OtherTarget,
        format!(
            "package `{name}` {verb} `{target_name}`, which has a distribution for each {} in {mode}",
            &several.per
        ),
    );
    let problem = problem.label(place, "ambiguous").label(
        &several.name.place,
        "several \
            distributions",
    );
    faults.report(problem.help(format!(
        "make `{name}` for each {} too, or let an extra of the selector install `{target_name}`",
        &several.per
    )));
}

/// Names the target of a fault, with its system if the other system has no such fault.
fn text_of(target: Target, is_wrong: impl Fn(Target) -> bool) -> String {
    let systems = System::ALL.map(|system| Target { system, ..target });
    if systems.into_iter().all(is_wrong) {
        format!("mode {}", target.mode)
    } else {
        format!("mode {} on {}", target.mode, target.system.as_str())
    }
}

fn made_for_others<'t>(
    package: &Package,
    target: &'t Package,
    built_for: Target,
) -> Option<&'t Distribution> {
    let (of_package, of_target) =
        (package.distribution_for(built_for)?, target.distribution_for(built_for)?);
    (of_target.per != Per::None && of_target.per != of_package.per).then_some(of_target)
}

pub(super) fn check_offered(faults: &Faults, package: &Package, extra: &Extra, target: &Package) {
    if !package.is_whole() || !target.is_whole() {
        return;
    }
    let is_offered = |candidate: &Target| {
        extra.when.holds(*candidate) && package.distribution_for(*candidate).is_some()
    };
    let targets: Vec<Target> = Target::ALL.into_iter().filter(is_offered).collect();
    let built: Vec<&Distribution> =
        targets.iter().filter_map(|offered_for| target.distribution_for(*offered_for)).collect();
    let target_name = &target.name.value;
    if built.is_empty() {
        let problem = Problem::error(
            Code::ExtraNeverOffered,
            format!("no mode offers the extra `{}`", extra.name.value),
        )
        .label(
            &extra.package.place,
            format!("`{target_name}` is not built in the modes of this line"),
        )
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
    let several =
        targets.iter().find_map(|offered_for| made_for_others(package, target, *offered_for));
    if let Some(several) = several.filter(|_| extra.pick == Pick::Only) {
        let problem = Problem::error(
            Code::OtherTarget,
            format!(
                "extra `{}` is ambiguous: `{target_name}` has several distributions",
                extra.name.value
            ),
        )
        .label(&extra.package.place, "ambiguous")
        .label(&several.name.place, "several distributions");
        faults.report(problem.help("add offer=\"each\" or offer=\"all\""));
    }
}
