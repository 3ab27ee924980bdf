//! `rockpack index mirror`.

use base::address::Address;
use base::source::{Code, Problem};
use base::text::{counted, with_causes};
use fs_err as fs;
use index::publish::{self, Mirror, Mirrored, PageCache, PublishError, Step};
use index::store::{Access, is_web};

use super::{Failure, environment, print, publish as published};
use crate::cli::{MirrorArgs, PublishLayout};
use crate::{inputs, ui};

pub fn run(args: &MirrorArgs) -> Result<(), Failure> {
    let publishing =
        published::publishing(args.layout == PublishLayout::V5, args.manifest.as_deref())?;
    let mirror = Mirror {
        layout: published::layout(args.layout, &publishing, None),
        public: public(args)?,
        projects: published::projects("--project", &args.project)?,
        dry_run: args.dry_run,
        cache: inputs::cache::allowed().map(|dir| PageCache::below(&dir)),
    };
    published::takes_uploads("DEST", args.dest.reveal())?;
    let open = |url: &Address| published::open(url, Access::Any);
    let (source, dest) = (open(&args.source)?, open(&args.dest)?);
    if is_same(source.name(), dest.name()) {
        return Err(environment(format!(
            "SOURCE and DEST are both `{}`: give the mirror another place",
            dest.name()
        )));
    }
    if !args.dry_run {
        ui::set_end_message("written pages stay; run the same command again for the rest");
    }
    let report = |step: &Step| {
        if let Step::Page { key, .. } = step
            && (args.dry_run || !ui::quiet())
        {
            let _ = print(&format!("page  {key}\n"));
        }
    };
    let Mirrored { projects, packages, pages, removed } =
        publish::mirror(&*source, &*dest, &mirror, &report).map_err(|error| failure(&error))?;
    let would_be = if args.dry_run { "would be " } else { "" };
    print(&format!(
        "{} of {}; {} {would_be}written, {removed} {would_be}removed\n",
        counted(packages, "package"),
        counted(projects, "project"),
        counted(pages, "page")
    ))
}

/// Returns true if two names are surely the same place.
fn is_same(source: &str, dest: &str) -> bool {
    let is_one_directory = || Some(fs::canonicalize(source).ok()? == fs::canonicalize(dest).ok()?);
    source.trim_end_matches('/') == dest.trim_end_matches('/') || is_one_directory() == Some(true)
}

fn public(args: &MirrorArgs) -> Result<String, Failure> {
    let (option, url) = match &args.public {
        Some(url) => ("--public", url),
        None => ("SOURCE", &args.source),
    };
    let text = url.reveal();
    if is_web(text) && has_user(text) {
        return Err(environment(format!(
            "{option} appears in public pages: remove user and password before `@`"
        )));
    }
    if is_web(text) && !text.contains(['?', '#', ' ']) {
        return Ok(text.to_owned());
    }
    Err(environment(match option {
        "--public" => {
            format!("--public must be an http:// or https:// address without ? and #, not `{url}`")
        }
        _ => format!(
            "add --public with the public address of `{url}`, such as https://example.com/whl/"
        ),
    }))
}

fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    host.contains('@') || host.to_ascii_lowercase().contains("%40")
}

fn failure(error: &PublishError) -> Failure {
    let refused = Problem::error(Code::PublishRefused, with_causes(error));
    let help = match error {
        PublishError::NoHash(_) => {
            "add `#sha256=` to the pages in the program that makes them, or publish the same \
             files with `rockpack index publish`: without hashes, the server of the packages can \
             replace them"
        }
        PublishError::Foreign { .. } => "give another place, or remove the page",
        PublishError::Page { .. } => published::MEND,
        PublishError::NoMirror { .. } => "give the mirror another place",
        PublishError::NoPages(_) => "give --layout and SOURCE as for `rockpack index publish`",
        PublishError::Absent(_) => "remove --project to mirror all projects",
        _ => return published::failure(error),
    };
    Failure::Problems(refused.help(help).into())
}
