//! `ignore`: findings in packages that are meant.

use super::text::FindingName;
use super::{Context, Node};
use crate::{Glob, IgnoreRule};
use base::names::PackageName;
use base::source::{Code, Problem, Spanned};
use base::target::Condition;

pub(super) fn rule(node: &mut Node<'_>, context: &Context<'_>) -> Option<IgnoreRule> {
    let code = node
        .argument::<FindingName>("what is found")
        .map(|name| Spanned::new(name.value.0, name.place));
    let package = node.property::<PackageName>("package");
    let glob = node.property::<Glob>("in");
    let to = node.property::<Glob>("to");
    let reason = node.required::<String>("reason");
    let optional = node.property::<String>("optional");
    if let Some(package) = &package {
        context.resolve(package, None);
    }
    if let (Some(code), Some(to)) = (&code, &to)
        && Code::OF_PLANS.contains(&code.value)
    {
        let problem = Problem::error(
            Code::UnknownProperty,
            format!("`to` means nothing for `{}`", code.value),
        );
        context.faults.report(problem.label(&to.place, "a plan's warning has no rpath to compare"));
    }
    let code = code?;
    let of = |text: Option<&str>| text.map(|text| format!(" {text}")).unwrap_or_default();
    let paths = [&glob, &to].map(|glob| of(glob.as_ref().map(|glob| glob.as_str()))).concat();
    let limits = of(package.as_ref().map(|name| name.as_str())) + &paths;
    let name = format!("{}{limits}", code.value);
    context.give("ignore", &name, Condition::default(), &code.place);
    Some(IgnoreRule {
        code,
        package,
        glob: glob.map(|g| g.value),
        to: to.map(|g| g.value),
        reason: reason?.value,
        optional: optional.map(|o| o.value),
    })
}
