//! `rockpack publish`: packages and their pages, into a store.

use std::collections::BTreeSet;

use rockpack::index::IndexError;
use rockpack::names::normalized;
use rockpack::publish::{self, Options, PublishError, Step, Summary};
use rockpack::source::{Code, Problem};
use rockpack::store::{self, Access};
use rockpack::text::{human_size, with_causes};

use super::{Failure, environment, print};
use crate::cli::PublishArgs;

/// Publishes, and says each step.
pub fn run(args: &PublishArgs) -> Result<(), Failure> {
    let options = Options {
        layout: args.layout.into(),
        time: args.upload_time,
        outside: outside(args)?,
        incomplete: args.incomplete,
        dry_run: args.dry_run,
        jobs: args.jobs,
    };
    super::repaired(&args.dir)?;
    // Who only looks can do so where everybody may.
    let access = if args.dry_run { Access::Any } else { Access::Signed };
    let of_store = store::Options { access, ..store::Options::default() };
    let bucket = store::open(&args.url, &of_store).map_err(|e| environment(with_causes(&e)))?;
    let told = |step: &Step| drop(print(&line(step)));
    let summary = publish::publish(&args.dir, &*bucket, &options, &told);
    print(&said(args, &summary.map_err(|error| failure(&error))?))
}

/// The projects that users get elsewhere.
fn outside(args: &PublishArgs) -> Result<BTreeSet<String>, Failure> {
    let name = |text: &String| {
        let wrong = || environment(format!("--outside takes names of projects; `{text}` is none"));
        normalized(text.trim()).ok_or_else(wrong)
    };
    args.outside.iter().map(name).collect()
}

fn line(step: &Step) -> String {
    match step {
        Step::Upload { key, size } => format!("upload    {key}  {}\n", human_size(*size)),
        Step::Same { key } => format!("same      {key}\n"),
        Step::Metadata { key } => format!("metadata  {key}\n"),
        Step::Page { key, more } => format!("page      {key}  +{more}\n"),
    }
}

fn said(args: &PublishArgs, summary: &Summary) -> String {
    let Summary { uploaded, bytes, same, pages } = summary;
    let done = if args.dry_run { "would be " } else { "" };
    let size = human_size(*bytes);
    format!(
        "{uploaded} {done}uploaded, {size}; {same} there already; {pages} pages {done}written\n"
    )
}

fn failure(error: &PublishError) -> Failure {
    let problem = |code| Problem::error(code, with_causes(error));
    let refused = problem(Code::PublishRefused);
    let refused = match error {
        PublishError::Packages(
            IndexError::NotADirectory { .. } | IndexError::Read { .. } | IndexError::Stage(_),
        )
        | PublishError::Store(_)
        | PublishError::Contended { .. }
        | PublishError::Nothing(_) => return problem(Code::Environment).into(),
        PublishError::Packages(_) | PublishError::Homeless(_) | PublishError::Page { .. } => refused,
        PublishError::Key(_) => refused,
        PublishError::OtherBytes(_) => {
            refused.help("a name stands for the same bytes for ever: publish under another version")
        }
        PublishError::Incomplete(_) => refused.help(
            "publish it with what it requires, name what users get elsewhere with --outside, or say --incomplete",
        ),
        PublishError::NoData { .. } => {
            refused.help("publish to a place of its own, where rockpack makes the pages")
        }
    };
    Failure::Problems(refused.into())
}
