use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use base::source::Code;
use plan::Request;

use super::set::list;
use super::{ArtifactArgs, CatalogArgs, DenyArgs, SetArgs};

/// Show the differences between two plans, manifests or builds
///
/// OLD and NEW are each one of
///   a plan saved with `rockpack plan --json`,
///   a directory with packages.kdl and families.kdl, or `built-in`, planned on the given artifacts,
///   a directory of built packages, such as `dist`,
///   a contract saved with `rockpack plan --contract FILE --json`, as OLD alone: only losses are shown,
///   INDEX@VERSION: the packages of one version on an index, an address or a directory with pages.
/// NEW defaults to --manifest, the current directory's manifest, or, with a warning, the built-in one.
/// With --manifest-at, OLD is the same manifest at that git revision.
///
/// Prints the verdict first: losses of users, the most dangerous first, such as libraries in no
/// package, a renamed package, or device code that shrinks. New lines `drop`, `ignore
/// "unowned-files"` and `ignore "loss"` of NEW allow losses.
///
/// Then prints packages and sizes, then differences: `+` added, `-` removed, an arrow moved, `~`
/// changed. Directories that changed as a whole (`lib/x/**`), and files with the same change, are
/// one line. Version bumps and moved manifest lines are ignored. Plans are compared with built
/// packages by paths, sizes of copied files, rpaths of edited files, links, texts and metadata.
///
/// Of packages on an index, headers and metadata are read, not the content: files differ by size
/// and CRC-32, and a devel archive is one file. Packages of other versions that they require
/// exactly belong to them.
///
/// With --ledger, OLD and NEW are packages of any maker, whose bytes are compared: each difference
/// needs a line of the ledger that accepts it with a reason, and each line a difference. Prints the
/// counts of each package, then what no line accepts, the worst first.
///
/// Exit status: 0 nothing lost, 1 a loss that the change does not allow, or an error in a manifest,
/// the artifacts, a plan or a contract (with --exit-code also: differences; with --ledger: a
/// difference that no line accepts, or a line without one), 2 error in the command line, a file that
/// cannot be read, or git.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = DIFF_EXAMPLES)]
#[command(mut_group("CatalogArgs", |group| group.required(false)))]
pub struct DiffArgs {
    /// Old side: a plan, a manifest's directory, a directory of packages, or INDEX@VERSION
    #[arg(value_name = "OLD", value_hint = ValueHint::AnyPath, required_unless_present = "manifest_at")]
    pub old: Option<PathBuf>,

    /// New side, likewise [default: the manifest]
    #[arg(value_name = "NEW", value_hint = ValueHint::AnyPath)]
    pub new: Option<PathBuf>,

    /// Use packages.kdl and families.kdl of this git revision as OLD
    #[arg(long, value_name = "REV", help_heading = "Input")]
    pub manifest_at: Option<String>,

    /// If OLD does not plan, compare with the newest commit before it (first parents) that does
    #[arg(long, requires = "manifest_at", help_heading = "Input")]
    pub against_last_good: bool,

    /// Compare packages of any maker by this file of `accept` lines, or by the `built-in` one
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Input",
        conflicts_with_all = ["manifest_at", "exit_code"]
    )]
    pub ledger: Option<PathBuf>,

    #[command(flatten)]
    pub catalog: Option<CatalogArgs>,

    #[command(flatten)]
    pub set: SetArgs,

    /// Families or ISAs of OLD for Linux, if it is planned [default: --linux-amdgpu-families]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub old_linux_amdgpu_families: Option<String>,

    /// Families or ISAs of OLD for Windows, if it is planned [default: --windows-amdgpu-families]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub old_windows_amdgpu_families: Option<String>,

    #[command(flatten)]
    pub deny: DenyArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// Form of the difference
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    format: DiffFormat,

    /// The same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,

    /// Exit with 1 if OLD and NEW differ
    #[arg(long, help_heading = "Output")]
    pub exit_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DiffFormat {
    /// Packages, sizes and changes; a directory that changed as a whole is one line
    #[default]
    Text,
    /// The same with every file
    Files,
    /// JSON, with every file
    Json,
    /// Markdown for a comment on a pull request, always below 64 kB
    Markdown,
    /// A web page with old beside new for every file, without external resources
    Html,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  The effect of the edits of packages.kdl since main:
    rockpack diff --artifact-dir artifacts --manifest-at main

  The same as a comment for a pull request:
    rockpack diff --artifact-dir artifacts --manifest-at origin/main --format markdown > comment.md

  The effect of a repair, if main does not plan:
    rockpack diff --artifact-dir artifacts --manifest-at main --against-last-good

  What users lose if a release has one GPU less:
    rockpack diff --artifact-dir artifacts --manifest-at HEAD \\
        --old-linux-amdgpu-families gfx942,gfx1100 --linux-amdgpu-families gfx942

  Two manifests on the same artifacts:
    rockpack diff --artifact-dir artifacts old/ new/

  Two plans that `rockpack plan --json` printed:
    rockpack diff 7.2.json 7.3.json

  Two published nights, without their download:
    rockpack diff https://example.org/whl@7.2.0a20261127 https://example.org/whl@7.2.0a20261128

  Check that packages are as planned:
    rockpack diff --exit-code plan.json out/dist

  Check that packages differ from those of another tool only as a file says:
    rockpack diff --ledger parity.kdl theirs/dist out/dist
";

impl DiffArgs {
    /// Request for the old side.
    pub fn old_request(&self, request: Request) -> Request {
        let families = |old: Option<&String>, new| old.map_or(new, |text| list(text));
        let allowed = [&request.allowed[..], &[Code::UnownedFiles]].concat();
        Request {
            allowed,
            linux_families: families(
                self.old_linux_amdgpu_families.as_ref(),
                request.linux_families,
            ),
            windows_families: families(
                self.old_windows_amdgpu_families.as_ref(),
                request.windows_families,
            ),
            ..request
        }
    }

    /// Returns whether an option is of a planned old side.
    pub fn plans_old(&self) -> bool {
        self.old_linux_amdgpu_families.is_some() || self.old_windows_amdgpu_families.is_some()
    }

    pub fn format(&self) -> DiffFormat {
        if self.json { DiffFormat::Json } else { self.format }
    }

    /// Returns OLD and NEW. With a revision, the only path is NEW.
    pub fn sides(&self) -> Result<(Option<&PathBuf>, Option<&PathBuf>), &'static str> {
        match (&self.manifest_at, &self.old, &self.new) {
            (Some(_), Some(_), Some(_)) => {
                Err("--manifest-at replaces OLD: give only NEW, or nothing")
            }
            (Some(_), new, None) => Ok((None, new.as_ref())),
            (_, old, new) => Ok((old.as_ref(), new.as_ref())),
        }
    }
}
