//! `distribution` and `extra`: names with a place for the target.

use std::str::FromStr;

use super::scope::Scope;
use super::{Context, Node};
use crate::{Distribution, Extra, PackageKind, Pick, Template};
use base::names::{DistName, ModuleName, NameError};
use base::source::{Code, Problem, Spanned};
use base::target::Per;

pub(super) fn distribution<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Distribution> {
    let name = node.argument::<Template>("a name");
    let module = node.required::<Template>("module");
    let split = node.required::<String>("per").and_then(|word| scope.context.split(word));
    let when = node.condition();
    let context = scope.context;
    for template in [&name, &module].into_iter().flatten() {
        split.as_ref().inspect(|split| check_placeholders(context, template, split, scope.kind));
    }
    split.as_ref().inspect(|split| check_choice(context, split, scope.kind));
    if let Some(name) = &name {
        check_name::<DistName>(context, name, "a distribution name");
    }
    if let Some(module) = &module {
        check_name::<ModuleName>(context, module, "a Python module name");
    }
    if node.is_sound() {
        name.as_ref().map(|n| context.give("distribution", &normalized(n), when, &n.place));
        module.as_ref().map(|m| context.give("module", m.as_str(), when, &m.place));
    }
    Some(Distribution { name: name?, module: module?.value, per: split?.value, when })
}

/// A choice stands for packages of several targets, so there is one of it.
fn check_choice(context: &Context<'_>, split: &Spanned<Per>, kind: Option<PackageKind>) {
    if kind == Some(PackageKind::Choice) && split.value != Per::None {
        let message = format!("a choice is one for all, and not for each {}", split.value);
        let problem = Problem::error(Code::OtherTarget, message)
            .label(&split.place, "its targets would have a choice each");
        context.faults.report(problem.help("write per=\"none\""));
    }
}

/// Distributions of one split must not share a name, and a name must not promise a target that it has not.
fn check_placeholders(
    context: &Context<'_>,
    template: &Spanned<Template>,
    split: &Spanned<Per>,
    kind: Option<PackageKind>,
) {
    let fills = split.value.placeholder();
    let word = split.value.word();
    if let Some(extra) = template.placeholders().find(|p| Some(*p) != fills) {
        let problem = Problem::error(
            Code::PlaceholderNotFilled,
            format!("`{}` has `{{{extra}}}`, which per=\"{word}\" does not fill", template.value),
        );
        let is_split = context.splits().any(|split| split == extra);
        let help = match fills {
            None => "take the placeholder away".to_owned(),
            Some(filled) => format!("write `{{{filled}}}`"),
        };
        let help = if is_split { format!("{help}, or per=\"{extra}\"") } else { help };
        context.faults.report(
            problem
                .label(&template.place, "this placeholder")
                .label(&split.place, "this split")
                .help(help),
        );
    }
    let needed = split.value != Per::Family || kind == Some(PackageKind::Runtime);
    if let (true, Some(fills), false) = (needed, fills, template.has_placeholder()) {
        let problem = Problem::error(
            Code::PlaceholderMissing,
            format!(
                "`{}` lacks `{{{fills}}}`, so that all its distributions would share one name",
                template.value
            ),
        );
        let label = format!("`{{{fills}}}` has to be in here");
        context.faults.report(
            problem
                .label(&template.place, label)
                .label(&split.place, format!("per=\"{word}\" makes several")),
        );
    }
}

/// Checks the name as it is with a target filled in; any will do.
fn check_name<T: FromStr<Err = NameError>>(
    context: &Context<'_>,
    template: &Spanned<Template>,
    kind: &str,
) {
    if let Err(error) = template.filled().parse::<T>() {
        let problem =
            Problem::error(Code::InvalidText, format!("`{}` is not {kind}", template.value));
        context.faults.report(problem.label(&template.place, error.reason));
    }
}

/// The name as indexes compare it, placeholders kept.
fn normalized(template: &Template) -> String {
    let plain = template.as_str().parse::<DistName>();
    plain.map_or_else(
        |_| template.as_str().replace(['_', '.'], "-").to_ascii_lowercase(),
        |name| name.normalized(),
    )
}

pub(super) fn extra<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Extra> {
    let name = node.argument::<Template>("a name");
    let package = node.required("package");
    let pick = node.property::<Pick>("offer");
    let at_least = node.count("at-least").unwrap_or(1);
    let when = node.condition();
    let context = scope.context;
    if let Some(package) = &package {
        context.resolve(package, None);
    }
    if let Some(name) = &name {
        if node.is_sound() {
            scope.give("extra", &normalized(name), when, &name.place);
        }
        check_name::<DistName>(context, name, "an extra's name");
        check_pick(context, name, pick.as_ref());
    }
    Some(Extra {
        name: name?,
        package: package?,
        pick: pick.map_or(Pick::Only, |p| p.value),
        at_least,
        when,
    })
}

/// Only `offer="each"` makes several extras, and only several need a placeholder.
fn check_pick(context: &Context<'_>, name: &Spanned<Template>, pick: Option<&Spanned<Pick>>) {
    let each = pick.filter(|p| p.value == Pick::Each);
    match each {
        Some(each) if !name.has_placeholder() => context.faults.report(
            Problem::error(
                Code::PlaceholderMissing,
                format!(
                    "extra `{}` lacks a placeholder, so that all it makes would share one name",
                    name.value
                ),
            )
            .label(&name.place, "`{isa}`, or what else the package is split by, has to be in here")
            .label(&each.place, "makes an extra for each distribution"),
        ),
        None if name.has_placeholder() => context.faults.report(
            Problem::error(
                Code::PlaceholderNotFilled,
                format!(
                    "extra `{}` has a placeholder, but there is only one such extra",
                    name.value
                ),
            )
            .label(&name.place, "nothing fills the placeholder")
            .help("write offer=\"each\" to make an extra for each distribution"),
        ),
        _ => {}
    }
}

/// A package is one distribution (of a split) in each mode.
pub(super) fn check_modes(context: &Context<'_>, distributions: &[Distribution]) {
    for (index, again) in distributions.iter().enumerate() {
        let Some((first, target)) =
            distributions[..index].iter().find_map(|d| Some((d, d.when.meets(again.when)?)))
        else {
            continue;
        };
        let problem = Problem::error(
            Code::TwoDistributions,
            format!("the package has two distributions in mode {}", target.mode),
        );
        let problem = problem
            .label(&again.name.place, "a second one")
            .label(&first.name.place, "the first one");
        context.faults.report(problem.help("give each a mode=\"…\" of its own, or keep one"));
    }
}

/// A summary may name the target only where every distribution has one.
pub(super) fn check_summary(
    context: &Context<'_>,
    summary: &Spanned<Template>,
    distributions: &[Distribution],
) {
    for named in summary.placeholders() {
        if let Some(other) = distributions.iter().find(|d| d.per.placeholder() != Some(named)) {
            let problem = Problem::error(
                Code::PlaceholderNotFilled,
                format!("the summary has `{{{named}}}`, which not every distribution fills"),
            );
            let label = format!("per=\"{}\" does not fill it", other.per.word());
            context.faults.report(
                problem.label(&summary.place, "this placeholder").label(&other.name.place, label),
            );
            return;
        }
    }
}

/// Reports an extra for each distribution of a package whose distributions its placeholder does not tell apart.
pub(super) fn check_extra(faults: &super::Faults, extra: &Extra, distributions: &[Distribution]) {
    if extra.pick != Pick::Each {
        return;
    }
    let in_mode = |d: &&Distribution| extra.when.meets(d.when).is_some();
    for distribution in distributions.iter().filter(in_mode) {
        let fills = distribution.per.placeholder();
        if extra.name.placeholders().any(|p| Some(p) != fills) {
            let split = distribution.per.word();
            let problem = Problem::error(
                Code::PlaceholderNotFilled,
                format!(
                    "extra `{}` has a placeholder that its package does not fill",
                    extra.name.value
                ),
            );
            let labelled = problem
                .label(&extra.name.place, "this placeholder")
                .label(&distribution.name.place, format!("per=\"{split}\" here"));
            faults.report(labelled.help("use the placeholder of the package's split, and mode=\"…\" where it differs between modes"));
        }
    }
}
