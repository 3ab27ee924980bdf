//! `system-library` and `allow-missing`: what no package ships and files may need all the same.

use super::{Block, Context};
use crate::{LibraryName, LibraryRule};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;

/// The libraries of the system, and those that may be missing.
pub(super) fn libraries(
    nodes: &mut Block<'_>,
    context: &Context<'_>,
) -> (Vec<LibraryRule>, Vec<LibraryRule>) {
    let system = nodes.every("system-library", |node| {
        let names = node.at_least_one("a library");
        let reason = node.property::<String>("reason").map(|r| r.value);
        Some(rules(names, reason.as_ref()))
    });
    let missing = nodes.every("allow-missing", |node| {
        let names = node.at_least_one("a library");
        let reason = node.required::<String>("reason")?.value;
        Some(rules(names, Some(&reason)))
    });
    let (system, missing) = (system.concat(), missing.concat());
    for (line, rules) in [("system-library", &system), ("allow-missing", &missing)] {
        for rule in rules {
            context.give(line, rule.name.as_str(), Condition::default(), &rule.name.place);
        }
    }
    refuse_both(context, &system, &missing);
    (system, missing)
}

fn rules(names: Vec<Spanned<LibraryName>>, reason: Option<&String>) -> Vec<LibraryRule> {
    names.into_iter().map(|name| LibraryRule { name, reason: reason.cloned() }).collect()
}

/// A library that every system has is never missing.
fn refuse_both(context: &Context<'_>, system: &[LibraryRule], missing: &[LibraryRule]) {
    for rule in missing {
        let Some(other) = system.iter().find(|s| s.name.as_str() == rule.name.as_str()) else {
            continue;
        };
        let problem = Problem::error(
            Code::GivenTwice,
            format!("`{}` is a system library and a missing one", rule.name.as_str()),
        );
        let problem = problem
            .label(&rule.name.place, "here it may be missing")
            .label(&other.name.place, "here every system has it");
        context
            .faults
            .report(problem.help("keep one of them: what the system has is never missed"));
    }
}
