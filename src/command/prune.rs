//! `rockpack prune`: old packages go from a store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rockpack::manifest::{Keep, Publishing, StreamRule};
use rockpack::publish::{self, PruneStep, Pruned, PublishError, Retention};
use rockpack::source::{Code, Problem, nearest};
use rockpack::text::{human_size, with_causes};

use super::{Failure, environment, print, publish as published};
use crate::cli::PruneStoreArgs;
use crate::inputs;

/// Prunes, and says each step.
pub fn run(args: &PruneStoreArgs) -> Result<(), Failure> {
    let sources = inputs::manifest::sources(args.manifest.as_deref())?;
    let publishing = inputs::manifest::decode(&sources)?.publishing;
    let rule = rule(&publishing, &args.stream)?;
    let Keep::Days(days) = rule.keep else {
        return print(&format!("packages of {} stay for ever\n", args.stream));
    };
    let now = match args.as_of {
        Some(seconds) => UNIX_EPOCH.checked_add(Duration::from_secs(seconds)),
        None => Some(SystemTime::now()),
    };
    let now = now.ok_or_else(|| environment("--as-of takes seconds since 1970"))?;
    let retention = Retention {
        layout: published::layout(args.layout, &publishing, &args.stream),
        days,
        date: rule.date,
        now,
        dry_run: args.dry_run,
        jobs: args.jobs,
    };
    let bucket = published::open(&args.url, published::access(args.dry_run))?;
    let told = |step: &PruneStep| drop(print(&line(step)));
    let pruned = publish::prune(&*bucket, &retention, &told);
    print(&said(args, &pruned.map_err(|error| failure(&error))?))
}

fn rule<'p>(publishing: &'p Publishing, stream: &str) -> Result<&'p StreamRule, Failure> {
    let known = || publishing.streams.iter().map(|rule| rule.name.as_str());
    publishing.streams.iter().find(|rule| *rule.name == stream).ok_or_else(|| {
        let what = format!("--stream: packages.kdl declares no stream `{stream}`");
        let near = nearest(stream, known()).map(|near| format!("did you mean `{near}`? "));
        let list: Vec<&str> = known().collect();
        let help = if list.is_empty() {
            "packages.kdl declares streams: stream \"nightly\" keep=\"120 days\"".to_owned()
        } else {
            format!("{}streams are {}", near.unwrap_or_default(), list.join(", "))
        };
        Problem::usage(Code::Environment, what).help(help).into()
    })
}

fn line(step: &PruneStep) -> String {
    let (what, amount, key, because) = match step {
        PruneStep::Kept { key, because } => ("stays", String::new(), key, Some(because)),
        PruneStep::Page { key, fewer } => ("page", format!("-{fewer}"), key, None),
        PruneStep::Removed { key, size, because } => {
            ("remove", human_size(*size), key, Some(because))
        }
    };
    let because = because.map(|because| format!("  {because}")).unwrap_or_default();
    format!("{what:6}  {amount:>7}  {key}{because}\n")
}

fn said(args: &PruneStoreArgs, pruned: &Pruned) -> String {
    let Pruned { removed, bytes, kept, pages } = pruned;
    let done = if args.dry_run { "would be " } else { "" };
    let size = human_size(*bytes);
    format!(
        "{removed} {done}removed, {size}; {kept} too old and needed; {pages} pages {done}written\n"
    )
}

fn failure(error: &PublishError) -> Failure {
    match error {
        PublishError::Unknown(_) => {
            let refused = Problem::error(Code::PublishRefused, with_causes(error));
            let help = "`rockpack publish` of the same files puts their metadata beside them";
            Failure::Problems(refused.help(help).into())
        }
        _ => published::failure(error),
    }
}
