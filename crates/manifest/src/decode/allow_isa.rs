//! `allow-isa`: device code that is meant to be where it is.

use super::{Context, Node};
use crate::{AllowIsaRule, Glob};
use base::names::PackageName;
use base::source::Spanned;

pub(super) fn rules(node: &mut Node<'_>, context: &Context<'_>) -> Option<Vec<AllowIsaRule>> {
    let globs = node.at_least_one::<Glob>("a glob");
    let package = node.property::<PackageName>("package");
    let reason = node.required::<String>("reason");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let when = node.condition();
    if let Some(package) = &package {
        context.resolve(package, None);
    }
    let package = package.map(|name| name.value);
    for glob in &globs {
        let of = package.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        context.give("allow-isa", &format!("{}{of}", glob.as_str()), when, &glob.place);
    }
    let reason = reason?.value;
    let rule = |glob: Spanned<Glob>| AllowIsaRule {
        glob,
        package: package.clone(),
        reason: reason.clone(),
        optional: optional.clone(),
        when,
    };
    Some(globs.into_iter().map(rule).collect())
}
