//! Differences of two plans, or of a plan and built packages, for people and machines.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "diff/built.rs"]
mod built;
#[path = "diff/command.rs"]
mod command;
#[path = "diff/contract.rs"]
mod contract;
#[path = "diff/large.rs"]
mod large;
#[path = "diff/output.rs"]
mod output;
#[path = "diff/plans.rs"]
mod plans;
#[path = "diff/published.rs"]
mod published;
#[path = "diff/verdict.rs"]
mod verdict;
use plan::Plan;
use review::diff;
use review::diff::{Contents, Diff};

fn differ(old: &Plan, new: &Plan) -> Diff {
    diff::diff(&Contents::of_plan("old", old), &Contents::of_plan("new", new))
}

/// Returns the differences by package: the text without its verdict, header and table.
fn sections(old: &Plan, new: &Plan) -> String {
    let text = diff::text(&differ(old, new), false);
    let mut parts = text.split("\n\n").skip(3);
    parts.next().map_or_else(String::new, |first| {
        parts.fold(first.to_owned(), |all, part| format!("{all}\n\n{part}")).trim_end().to_owned()
            + "\n"
    })
}
