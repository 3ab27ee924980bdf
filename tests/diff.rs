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
use catalog::Catalog;
use manifest::Manifest;
use plan::resolve::AllowedLosses;
use plan::{LossSubject, Plan, Request};
use review::diff;
use review::diff::{Allowances, Contents, Diff};

use crate::planning::support::runtime;

/// Returns a package `x-core` of the artifact `base`.
fn core(lines: &str) -> String {
    runtime("core", &format!("artifact \"base\" \"lib\"\n{lines}"))
}

/// Returns a package `x-libs` of the artifact `blas`.
fn libs(lines: &str) -> String {
    runtime("libs", &format!("artifact \"blas\" \"lib\"\n{lines}"))
}

fn differ(old: &Plan, new: &Plan) -> Diff {
    diff::diff(&Contents::of_plan("old", old), &Contents::of_plan("new", new))
}

/// Compares two plans, with the losses that lines of the new manifest allow.
fn differ_with_allowances(
    (old_manifest, old): (&Manifest, &Plan),
    (new_manifest, new): (&Manifest, &Plan),
    catalog: &Catalog,
    request: &Request,
) -> Diff {
    let lines = AllowedLosses::new(Some(old_manifest), new_manifest, catalog, request);
    let allows = |subject: &LossSubject<'_>| lines.note_of(subject);
    let contents = Contents::of_plan("new", new).with_allowances(Allowances(&allows));
    diff::diff(&Contents::of_plan("old", old), &contents)
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
