//! `promote`: packages of others that carry the version, and files that do.

use super::{Context, Node};
use crate::{Glob, PromoteRule, VersionFile};
use base::source::{Code, Problem};
use base::target::Condition;

pub(super) fn rule<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<PromoteRule> {
    let names = node.at_least_one::<Glob>("a distribution");
    for name in &names {
        context.give("promote", name.as_str(), Condition::default(), &name.place);
        if name.as_str().contains('/') || name.as_str() != name.as_str().to_lowercase() {
            let problem = Problem::error(
                Code::InvalidText,
                format!("`{}` is no name of a distribution", name.as_str()),
            );
            node.report(
                problem
                    .label(
                        &name.place,
                        "indexes compare names in lower case, with `-` between words",
                    )
                    .help("write it like \"example-torch\" or \"example-*\""),
            );
        }
    }
    let mut lines = node.block();
    let files = lines.every("version-file", |node| Some(version_files(node))).concat();
    lines.finish();
    (!names.is_empty()).then_some(PromoteRule { names, files })
}

fn version_files(node: &mut Node<'_>) -> Vec<VersionFile> {
    let globs = node.at_least_one::<Glob>("a path");
    let key = node.property::<String>("json").map(|key| key.value);
    let optional = node.property::<String>("optional").map(|reason| reason.value);
    let file = |glob| VersionFile { glob, key: key.clone(), optional: optional.clone() };
    globs.into_iter().map(|glob| file(glob.value)).collect()
}
