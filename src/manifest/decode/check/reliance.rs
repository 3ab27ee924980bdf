//! Packages that rely on others: those have to be there whenever they are.

use super::Outline;
use crate::manifest::decode::Faults;
use crate::manifest::{Distribution, Extra, Pick, Split, applies};
use crate::names::Mode;
use crate::source::{Code, Place, Problem};

/// What a package relies on has to be built whenever it is built itself. Whether a problem was reported.
pub(super) fn check_modes(
    faults: &Faults,
    outline: &Outline,
    verb: &str,
    place: &Place,
    target: &Outline,
) -> bool {
    let lacks = |mode: &Mode| outline.is_built(*mode) && !target.is_built(*mode);
    let Some(mode) = Mode::ALL.into_iter().find(lacks).filter(|_| outline.whole && target.whole)
    else {
        return false;
    };
    let (name, other) = (&outline.name.value, &target.name.value);
    let problem = Problem::error(
        Code::NotBuiltInMode,
        format!("package `{name}` {verb} `{other}`, which is not built in mode {mode}"),
    );
    let problem = problem
        .label(place, format!("there is no `{other}` in mode {mode}"))
        .label(&target.name.place, format!("no distribution here counts in mode {mode}"));
    faults.report(problem.help(format!(
        "give `{other}` a distribution for mode {mode}, or let `{name}` have none in it"
    )));
    true
}

/// A package that is one for all targets cannot rely on one that is made for each: which would it be?
pub(super) fn check_targets(
    faults: &Faults,
    outline: &Outline,
    verb: &str,
    place: &Place,
    target: &Outline,
) {
    let (name, other) = (&outline.name.value, &target.name.value);
    let Some((mode, several)) = Mode::ALL
        .into_iter()
        .find_map(|mode| Some((mode, made_for_others(outline, target, mode)?)))
    else {
        return;
    };
    let problem = Problem::error(
        Code::OtherTarget,
        format!(
            "package `{name}` {verb} `{other}`, of which there is one for each {} in mode {mode}",
            each(several.split)
        ),
    );
    let problem =
        problem.label(place, "which of them is meant?").label(&several.name.place, "makes several");
    faults.report(problem.help(format!(
        "make `{name}` for each {} too, or leave `{other}` to an extra of the selector",
        each(several.split)
    )));
}

/// The target's distribution in `mode`, when it is split by something that the package is not.
fn made_for_others<'t>(
    outline: &Outline,
    target: &'t Outline,
    mode: Mode,
) -> Option<&'t Distribution> {
    let (own, other) = (outline.in_mode(mode)?, target.in_mode(mode)?);
    (other.split != Split::Generic && other.split != own.split).then_some(other)
}

fn each(split: Split) -> &'static str {
    match split {
        Split::Family => "family",
        Split::Isa | Split::Generic => "ISA",
    }
}

/// An extra installs something in one mode at least, and what it installs is one thing.
pub(super) fn check_offered(faults: &Faults, outline: &Outline, extra: &Extra, target: &Outline) {
    if !outline.whole || !target.whole {
        return;
    }
    let modes: Vec<Mode> =
        Mode::ALL.into_iter().filter(|m| applies(extra.mode, *m) && outline.is_built(*m)).collect();
    let built: Vec<&Distribution> = modes.iter().filter_map(|m| target.in_mode(*m)).collect();
    let other = &target.name.value;
    if built.is_empty() {
        let problem = Problem::error(
            Code::ExtraNeverOffered,
            format!("extra `{}` is never offered", extra.name.value),
        )
        .label(
            &extra.package.place,
            format!("`{other}` is not built in any mode that this line counts in"),
        )
        .label(&target.name.place, "by the distributions here");
        return faults.report(problem.help("correct the package or the mode, or remove the line"));
    }
    if extra.at_least > 1 && built.iter().all(|d| d.split == Split::Generic) {
        let problem = Problem::error(
            Code::ExtraNeverOffered,
            format!("extra `{}` is never offered", extra.name.value),
        )
        .label(&extra.name.place, format!("it waits for {} distributions", extra.at_least))
        .label(&built[0].name.place, "there is never more than this one");
        return faults.report(
            problem.help("take `at-least` away, or name a package that is made for each target"),
        );
    }
    let several = modes.iter().find_map(|mode| made_for_others(outline, target, *mode));
    if let Some(several) = several.filter(|_| extra.pick == Pick::Only) {
        let problem = Problem::error(
            Code::OtherTarget,
            format!("extra `{}` does not say which `{other}` it installs", extra.name.value),
        )
        .label(&extra.package.place, "which of them is meant?")
        .label(&several.name.place, "makes several");
        faults
            .report(problem.help("say it with offer=\"machine\", offer=\"each\" or offer=\"all\""));
    }
}
