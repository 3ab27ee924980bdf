//! The arguments of `rockpack diff`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{CatalogArgs, SetArgs};

/// Show what differs between two plans, manifests or builds
///
/// OLD and NEW are each one of
///   a plan saved with `rockpack plan --json`,
///   a directory with packages.kdl and families.kdl, which is planned on the artifacts given,
///   a directory of built packages, such as `dist`.
/// Without NEW, it is the manifest that `rockpack plan` would take: --manifest, else this
/// directory's, else, with a warning, the one built in. With --manifest-at, OLD is that manifest as it was in git.
///
/// Prints packages and their sizes, then what differs: `+` is new, `-` is gone, an arrow moved, `~`
/// differs. A directory that is concerned as a whole is one line (`lib/x/**`), and so are files that
/// differ alike. Neither another version alone nor shifted lines of the manifest make a file differ.
/// Between a plan and built packages everything is compared that a plan promises: paths, sizes of
/// files that are copied, rpaths of those that are edited, links, texts, metadata.
///
/// Exit status: 0 compared, 1 a manifest or the artifacts are at fault (with --exit-code also: there
/// are differences), 2 something is wrong with the command line, a file to read, or git.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(verbatim_doc_comment, after_long_help = DIFF_EXAMPLES)]
#[command(mut_group("CatalogArgs", |group| group.required(false)))]
pub struct DiffArgs {
    /// What was: a plan, a manifest's directory or a directory of packages
    #[arg(value_name = "OLD", value_hint = ValueHint::AnyPath, required_unless_present = "manifest_at")]
    pub old: Option<PathBuf>,

    /// What is, likewise [default: the manifest]
    #[arg(value_name = "NEW", value_hint = ValueHint::AnyPath)]
    pub new: Option<PathBuf>,

    /// Take packages.kdl and families.kdl of this git revision for OLD
    #[arg(long, value_name = "REV", help_heading = "Input")]
    pub manifest_at: Option<String>,

    #[command(flatten)]
    pub catalog: Option<CatalogArgs>,

    #[command(flatten)]
    pub set: SetArgs,

    /// List every file
    #[arg(long, group = "form", help_heading = "Output")]
    pub files: bool,

    /// Print the difference as JSON, with every file
    #[arg(long, group = "form", help_heading = "Output")]
    pub json: bool,

    /// Print Markdown for a comment on a pull request: less than 64 kB, whatever there is to say
    #[arg(long, group = "form", help_heading = "Output")]
    pub markdown: bool,

    /// Exit with 1 when there are differences
    #[arg(long, help_heading = "Output")]
    pub exit_code: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  What the edits of packages.kdl since main do to the packages:
    rockpack diff --artifact-dir artifacts --manifest-at main

  The same as a comment for a pull request:
    rockpack diff --artifact-dir artifacts --manifest-at origin/main --markdown > comment.md

  Two manifests on the same artifacts:
    rockpack diff --artifact-dir artifacts old/ new/

  Two plans that `rockpack plan --json` printed, of whatever artifacts:
    rockpack diff 7.2.json 7.3.json

  Whether packages are what was planned:
    rockpack diff --exit-code plan.json out/dist
";

impl DiffArgs {
    /// OLD and NEW as they are meant: with a revision, the only path is NEW.
    ///
    /// # Errors
    /// When there are two paths beside a revision.
    pub fn sides(&self) -> Result<(Option<&PathBuf>, Option<&PathBuf>), &'static str> {
        match (&self.manifest_at, &self.old, &self.new) {
            (Some(_), Some(_), Some(_)) => {
                Err("--manifest-at stands for OLD: give NEW alone, or nothing")
            }
            (Some(_), new, None) => Ok((None, new.as_ref())),
            (_, old, new) => Ok((old.as_ref(), new.as_ref())),
        }
    }
}
