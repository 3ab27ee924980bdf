//! `distribution` and `extra`: names with a place for the target.

use std::str::FromStr;

use crate::line::{Context, Scope};
use crate::reader::{Faults, Node};
use crate::text::choice;
use crate::{PackageKind, Template};
use base::names::{DistName, ModuleName, NameError, PackageName};
use base::source::{Code, Problem, Spanned};
use base::target::{Condition, Per};
use manifest_derive::Line;

/// Names the package's distributions and their split; each mode has at most one such line.
#[derive(Debug, Clone, Line)]
#[line(
    "distribution",
    check(check_distribution(name, module, per, renames, when)),
    example = r#"distribution "example-math" module="example_math" per="none""#
)]
pub struct Distribution {
    /// The distribution's name, with `{isa}`, `{family}` or the axis in braces if the split makes
    /// several.
    #[arg("NAME", "a name")]
    pub name: Spanned<Template>,
    /// The import package; `-` and `.` of a target become `_`.
    #[prop("NAME")]
    pub module: Template,
    /// none: one distribution, of the artifacts for no particular GPU; isa: one for each ISA, of
    /// its own artifacts alone; family: one for each family, of its own artifacts and those for no
    /// particular GPU; an `axis` of families.kdl: one for each value, of its artifacts alone.
    #[prop("none|isa|family", read = per)]
    pub per: Per,
    /// Former name of the distribution: builds also make an empty package of this name that
    /// requires the new one, so that upgrades replace the old files.
    #[prop("NAME")]
    pub renames: Option<Spanned<Template>>,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Offers a package as an extra of the selector.
#[derive(Debug, Clone, Line)]
#[line(
    "extra",
    check(check_offer(name, pick, when)),
    example = r#"extra "device-{isa}" package="device" offer="each" at-least=2"#
)]
pub struct Extra {
    /// The extra's name, with `{isa}` or `{family}` if it is several.
    #[arg("NAME", "a name")]
    pub name: Spanned<Template>,
    /// The package that it installs.
    #[prop("PACKAGE", resolve)]
    pub package: Spanned<PackageName>,
    /// Of several distributions: each makes an extra for every one, all installs all. Without it,
    /// the only one. For the one that a machine needs, offer a package of kind choice.
    #[prop("each|all", name = "offer", default = Pick::Only)]
    pub pick: Pick,
    /// Offer it only if at least so many distributions exist.
    #[prop(default = 1, shown = "at-least=2")]
    pub at_least: usize,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Distributions that an extra installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The only one (default).
    Only,
    /// One extra for each.
    Each,
    /// All of them.
    All,
}

// `Pick::Only` has no word: it is written in one way.
choice!(Pick, "an offer", "each" => Each, "all" => All);

fn per(node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Spanned<Per>> {
    node.required::<String>("per").and_then(|word| scope.context.split(word))
}

fn check_distribution(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    name: Option<&Spanned<Template>>,
    module: Option<&Spanned<Template>>,
    split: Option<&Spanned<Per>>,
    renames: Option<&Spanned<Template>>,
    when: Condition,
) {
    let context = scope.context;
    for template in [name, module, renames].into_iter().flatten() {
        split.as_ref().inspect(|split| check_placeholders(context, template, split, scope.kind));
    }
    split.as_ref().inspect(|split| check_choice(context, split, scope.kind));
    for name in [name, renames].into_iter().flatten() {
        check_name::<DistName>(context, name, "a distribution name");
    }
    if let Some(renames) = renames
        && scope.kind == Some(PackageKind::Selector)
    {
        let message = "a selector has no former name: its users name it";
        let problem = Problem::error(Code::WrongKind, message);
        context.faults.report(problem.label(&renames.place, "remove it"));
    }
    if let Some(module) = module {
        check_name::<ModuleName>(context, module, "a Python module name");
    }
    if node.is_sound() {
        for name in [name, renames].into_iter().flatten() {
            context.give("distribution", &normalized(name), when, &name.place);
        }
        if let Some(module) = module {
            context.give("module", module.as_str(), when, &module.place);
        }
    }
}

fn check_offer(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    name: Option<&Spanned<Template>>,
    pick: Option<&Spanned<Pick>>,
    when: Condition,
) {
    let Some(name) = name else { return };
    if node.is_sound() {
        scope.give("extra", &normalized(name), when, &name.place);
    }
    check_name::<DistName>(scope.context, name, "an extra's name");
    check_pick(scope.context, name, pick);
}

/// Reports a choice that is split: it chooses among targets.
fn check_choice(context: &Context<'_>, split: &Spanned<Per>, kind: Option<PackageKind>) {
    if kind == Some(PackageKind::Choice) && split.value != Per::None {
        let message = format!(
            "a choice must have one distribution, not a distribution for each \
            {}",
            split.value
        );
        let problem = Problem::error(Code::OtherTarget, message)
            .label(&split.place, "makes a choice for each target");
        context.faults.report(problem.help("write per=\"none\""));
    }
}

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
            format!(
                "`{}` has the placeholder `{{{extra}}}`, but per=\"{word}\" does not fill it",
                template.value
            ),
        );
        let is_split = context.splits().any(|split| split == extra);
        let help = match fills {
            None => "remove the placeholder".to_owned(),
            Some(filled) => format!("write `{{{filled}}}`"),
        };
        let help = if is_split { format!("{help}, or write per=\"{extra}\"") } else { help };
        context.faults.report(
            problem.label(&template.place, "placeholder").label(&split.place, "split").help(help),
        );
    }
    let needed = split.value != Per::Family || kind == Some(PackageKind::Runtime);
    if let (true, Some(fills), false) = (needed, fills, template.has_placeholder()) {
        let problem = Problem::error(
            Code::PlaceholderMissing,
            format!(
                "`{}` lacks the placeholder `{{{fills}}}`, so all its distributions would have \
                 the same name",
                template.value
            ),
        );
        let label = format!("add `{{{fills}}}`");
        context.faults.report(
            problem
                .label(&template.place, label)
                .label(&split.place, format!("per=\"{word}\" makes several distributions")),
        );
    }
}

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

fn normalized(template: &Template) -> String {
    let plain = template.as_str().parse::<DistName>();
    plain.map_or_else(
        |_| template.as_str().replace(['_', '.'], "-").to_ascii_lowercase(),
        |name| name.normalized(),
    )
}

fn check_pick(context: &Context<'_>, name: &Spanned<Template>, pick: Option<&Spanned<Pick>>) {
    let pick_each = pick.filter(|p| p.value == Pick::Each);
    match pick_each {
        Some(pick_each) if !name.has_placeholder() => context.faults.report(
            Problem::error(
                Code::PlaceholderMissing,
                format!(
                    "extra `{}` lacks a placeholder, so all its extras would have the same name",
                    name.value
                ),
            )
            .label(&name.place, "add the placeholder of the package's split, such as `{isa}`")
            .label(&pick_each.place, "makes an extra for each distribution"),
        ),
        None if name.has_placeholder() => context.faults.report(
            Problem::error(
                Code::PlaceholderNotFilled,
                format!(
                    "extra `{}` has a placeholder, but its package makes only one extra",
                    name.value
                ),
            )
            .label(&name.place, "no value for the placeholder")
            .help("write offer=\"each\" to make an extra for each distribution"),
        ),
        _ => {}
    }
}

pub(super) fn check_modes(_: &Node<'_>, scope: &Scope<'_, '_>, distributions: &[Distribution]) {
    let context = scope.context;
    for (index, second) in distributions.iter().enumerate() {
        let Some((first, target)) =
            distributions[..index].iter().find_map(|d| Some((d, d.when.meets(second.when)?)))
        else {
            continue;
        };
        let problem = Problem::error(
            Code::TwoDistributions,
            format!("the package has two distributions in mode {}", target.mode),
        );
        let problem = problem.label(&second.name.place, "second").label(&first.name.place, "first");
        context.faults.report(problem.help("give each another mode=\"…\", or remove one"));
    }
}

pub(super) fn check_summary(
    _: &Node<'_>,
    scope: &Scope<'_, '_>,
    summary: &[Spanned<Template>],
    distributions: &[Distribution],
) {
    let Some(summary) = summary.first() else { return };
    for placeholder in summary.placeholders() {
        if let Some(unfilling) =
            distributions.iter().find(|d| d.per.placeholder() != Some(placeholder))
        {
            let problem = Problem::error(
                Code::PlaceholderNotFilled,
                format!(
                    "the summary has the placeholder `{{{placeholder}}}`, but not every \
                    distribution fills it"
                ),
            );
            let label = format!("per=\"{}\" does not fill it", unfilling.per.word());
            scope.context.faults.report(
                problem.label(&summary.place, "placeholder").label(&unfilling.name.place, label),
            );
            return;
        }
    }
}

pub(crate) fn check_extra(faults: &Faults, extra: &Extra, distributions: &[Distribution]) {
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
                .label(&extra.name.place, "placeholder")
                .label(&distribution.name.place, format!("per=\"{split}\" here"));
            faults.report(labelled.help(
                "use the placeholder of the package's split; if modes \
                have different splits, add mode=\"…\"",
            ));
        }
    }
}
