//! `rockpack index prune`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::source::{Code, Problem};
use base::text::{counted, human_size, with_causes};
use index::publish::{self, PruneStep, Pruned, PublishError, Retention};
use manifest::Keep;

use super::{Failure, environment, print, publish as published};
use crate::cli::PruneStoreArgs;
use crate::{inputs, ui};

pub fn run(args: &PruneStoreArgs) -> Result<(), Failure> {
    let sources = inputs::manifest::sources(args.manifest.as_deref())?;
    let publishing = inputs::manifest::decode(&sources)?.publishing;
    let rule = published::stream(&publishing, &args.stream)?;
    let Keep::Days(days) = rule.keep else {
        return print(&format!("packages of {} are kept for ever\n", args.stream));
    };
    let now = match args.as_of {
        Some(seconds) => UNIX_EPOCH.checked_add(Duration::from_secs(seconds)),
        None => Some(SystemTime::now()),
    };
    let now = now.ok_or_else(|| environment("--as-of must be a number of seconds since 1970"))?;
    let retention = Retention {
        layout: published::layout(args.layout, &publishing, Some(&args.stream)),
        days,
        date: rule.date,
        now,
        yes: args.yes,
        dry_run: args.dry_run,
        jobs: args.jobs.into(),
    };
    let bucket = published::open(&args.url, published::access(args.dry_run))?;
    if !args.dry_run {
        ui::set_end_message(
            "removed packages stay removed; run the same command again for the rest",
        );
    }
    let report = |step: &PruneStep| {
        if args.dry_run || !ui::quiet() {
            let _ = print(&line(step));
        }
    };
    let pruned = publish::prune(&*bucket, &retention, &report);
    print(&summary(args, &pruned.map_err(|error| failure(&error))?))
}

fn line(step: &PruneStep) -> String {
    let (action, amount, key, because) = match step {
        PruneStep::Kept { key, because } => ("stays", String::new(), key, Some(because)),
        PruneStep::Page { key, fewer } => ("page", format!("-{fewer}"), key, None),
        PruneStep::Removed { key, size, because } => {
            ("remove", human_size(*size), key, Some(because))
        }
    };
    let because = because.map(|because| format!("  {because}")).unwrap_or_default();
    format!("{action:6}  {amount:>7}  {key}{because}\n")
}

fn summary(args: &PruneStoreArgs, pruned: &Pruned) -> String {
    let Pruned { removed, bytes, kept, pages, total } = pruned;
    let would_be = if args.dry_run { "would be " } else { "" };
    let size = human_size(*bytes);
    let half = if args.dry_run && !args.yes && publish::is_more_than_half(*removed, *total) {
        format!("{removed} of {total} packages are more than half: remove them with --yes\n")
    } else {
        String::new()
    };
    format!(
        "{removed} {would_be}removed, {size}; {kept} too old and kept; {} {would_be}written\n{half}",
        counted(*pages, "page")
    )
}

fn failure(error: &PublishError) -> Failure {
    let refused = |help: &str| {
        let refused = Problem::error(Code::PublishRefused, with_causes(error));
        Failure::Problems(refused.help(help).into())
    };
    let help = match error {
        PublishError::Unknown(_) => {
            "publish the same files with `rockpack index publish`, which adds their metadata"
        }
        PublishError::Page { .. } => published::MEND,
        PublishError::NoStream { stream, .. } => {
            return refused(&format!(
                "record it, also for existing packages: `rockpack index publish DIR URL --stream \
                 {stream}` with the same --layout"
            ));
        }
        PublishError::Stream { recorded, .. } => {
            return refused(&format!("give --stream {recorded}, or the URL of another store"));
        }
        PublishError::TooMany { .. } => {
            "check --as-of, --stream and the URL; list the packages with --dry-run, and remove \
             them with --yes"
        }
        PublishError::NoPages(_) => "give --layout and URL as for `rockpack index publish`",
        _ => return published::failure(error),
    };
    refused(help)
}
