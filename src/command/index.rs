//! `rockpack index write`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::index::simple::{self, IndexError, Options, Summary};
use base::source::{Code, Problem};
use base::text::with_causes;

use super::{Failure, environment, gate, print, publish};
use crate::cli::IndexArgs;
use crate::{inputs, ui};

pub fn run(args: &IndexArgs) -> Result<(), Failure> {
    let options = Options {
        layout: args.layout.into(),
        time: args.upload_time,
        public: publish::public(args.public.as_ref())?,
        skip_broken: args.skip_broken,
        overwrite: args.overwrite,
        remove: removed(args)?,
    };
    super::repaired(&args.dir)?;
    let manifest = inputs::manifest::read_without_messages(args.manifest.as_deref())?;
    let gate = gate::for_command(check::Command::Publish, &manifest, &args.allow.allow);
    let summary = simple::write_with(&args.dir, &options, Some(&gate));
    let summary = summary.map_err(|error| failure(&error))?;
    let strays = simple::strays(&args.dir).map_err(|error| failure(&error))?;
    publish::warn_of(Code::IndexRefused, &strays);
    if args.public.is_none() {
        publish::warn_of_public(Code::IndexRefused, summary.attested);
    }
    for (path, error) in &summary.skipped {
        let text = format!("`{path}` was left out: {}", with_causes(error));
        ui::show_problems(&Problem::warning(Code::IndexRefused, text).into());
    }
    print(&summary_text(args, &summary))
}

/// Returns the file names of the packages to remove. A path must be below the directory, because a
/// package of the same name would be removed instead of it.
fn removed(args: &IndexArgs) -> Result<BTreeSet<String>, Failure> {
    let name = |path: &PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let is_below = |parent: &Path| {
            let (parent, dir) = (parent.canonicalize(), args.dir.canonicalize());
            parent.is_ok_and(|parent| dir.is_ok_and(|dir| parent.starts_with(dir)))
        };
        parent.is_none_or(is_below).then_some(name)
    };
    let names = args.remove.iter().map(|path| {
        name(path).ok_or_else(|| {
            let (path, dir) = (path.display(), args.dir.display());
            environment(format!("--remove {path}: give the file name of a package in {dir}"))
        })
    });
    names.collect()
}

fn summary_text(args: &IndexArgs, summary: &Summary) -> String {
    let count = |number: usize, singular: &str, plural: &str| {
        format!("{number} {}", if number == 1 { singular } else { plural })
    };
    let files = count(summary.packages, "file", "files");
    let projects = count(summary.projects, "project", "projects");
    let pages = count(summary.pages, "page", "pages");
    let removed = if summary.pages_removed == 0 {
        String::new()
    } else {
        format!(", {} removed", summary.pages_removed)
    };
    let mut text =
        format!("{files} of {projects}: {} read, {pages} written{removed}\n", summary.read);
    for path in &summary.removed {
        let _ = writeln!(text, "removed {path}");
    }
    for page in &summary.entries {
        let _ = writeln!(text, "{}", args.dir.join(page.as_str()).display());
    }
    text
}

fn failure(error: &IndexError) -> Failure {
    let problem = |code| Problem::error(code, with_causes(error));
    let refused = problem(Code::IndexRefused);
    let refused = match error {
        IndexError::Broken { .. } => refused.help("leave it out with --skip-broken"),
        IndexError::Clash { .. } => refused.help(
            "use --layout flat for a page per directory, or remove one: an index \
                can have only equal files twice",
        ),
        IndexError::YankClash { .. } => refused.help(publish::ONE_YANK),
        IndexError::Gate(error) => return gate::failure(error),
        IndexError::Attestation { .. } => refused.help(publish::ATTEST),
        IndexError::Foreign { .. } => refused.help("move it away, or replace it with --overwrite"),
        IndexError::Published { .. } => refused.help(
            "index another directory, or replace the pages with --overwrite: `rockpack index \
             publish` keeps these pages",
        ),
        IndexError::Misplaced { .. } => refused.help(
            "use --layout simple or --layout flat, \
            which take packages from any directory",
        ),
        IndexError::PageTwice { .. } => refused.help(
            "an index of packages.kdl (`index` line) has the name of a directory or project: rename \
             it, or move the packages of the directory",
        ),
        IndexError::Name { .. } => refused,
        IndexError::NotADirectory { .. }
        | IndexError::Read { .. }
        | IndexError::NotThere { .. }
        | IndexError::Stage(_)
        | IndexError::Write(_) => return problem(Code::Environment).into(),
    };
    Failure::Problems(refused.into())
}
