//! `index` in a selector: what it requires in one index alone.

use super::scope::Scope;
use super::text::Every;
use super::{Node, Problem};
use crate::{IndexRule, RequireRule};
use base::names::PackageName;
use base::source::Code;

/// The directory that has the pages of an index: `rockpack index write` writes it beside the packages.
const PAGES: &str = "simple";

pub(super) fn index<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<IndexRule> {
    let name = node.argument::<PackageName>("a name");
    let when = node.condition();
    let mut lines = node.block();
    let own = Scope::new(scope.context, scope.kind);
    let requires = lines.at_least_once("requires", |n| required(n, &own));
    lines.finish();
    let name = name?;
    scope.give("index", name.as_str(), when, &name.place);
    if name.as_str() == PAGES {
        let message = format!("`{PAGES}` cannot be the name of an index");
        let problem = Problem::error(Code::InvalidText, message)
            .label(&name.place, "the pages of every index are in a directory of this name");
        scope.context.faults.report(problem.help("take another, such as `whl`"));
    }
    Some(IndexRule { name, requires, when })
}

fn required<'a>(node: &mut Node<'a>, own: &Scope<'_, 'a>) -> Option<RequireRule> {
    let package = node.argument::<PackageName>("a package");
    let all = node.property::<Every>("offer").is_some();
    let when = node.condition();
    let package = package?;
    own.context.resolve(&package, None);
    own.give("requires", package.as_str(), when, &package.place);
    Some(RequireRule { package, all, when })
}
