//! The arguments of `rockpack index prune`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::PublishLayout;

/// Delete packages of an object store that are older than their stream keeps them
///
/// URL and --layout are the same as for `rockpack index publish`. The `stream` lines of packages.kdl
/// say how long packages stay:
///
///   stream "nightly" keep="120 days"
///   stream "weekly" keep="52 weeks" date="version"
///
/// A package is as old as the store has it, or, with date="version", as the date in its version says.
///
/// What is too old stays all the same if a package that stays requires it, on whichever system, or
/// if a page beside those of the layout names it. `==` keeps all files of that version, other
/// requirements the newest version that fits, unless one that fits stays anyway. What no page names,
/// and the store has had for less than a day, may be on its way onto one.
///
/// Pages lose the names first, those of packages that require others before these; then the packages
/// are deleted, with what lies beside them. Whatever interrupts it leaves an index of whole
/// packages, and the next run does the rest. Nobody should publish old packages again meanwhile.
///
/// Of each project, the newest version stays whose requirements are in the store as well, whatever
/// its age. More than half of all packages are deleted only with --yes. A store that does not record
/// the stream of --stream is refused: `rockpack index publish --stream` records it.
///
/// --dry-run prints each deletion with its reason; what is too old and stays is printed in any case.
///
/// Exit status: 0 done, 1 a page cannot be read as a page of an index, what a package requires is
/// not known, the store is of another stream, or --yes is missing, 2 something is wrong with the
/// command line, the manifest, the environment or the store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PruneStoreArgs {
    /// Where packages were published
    #[arg(value_name = "URL", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new())]
    pub url: String,

    /// The stream that the store is for: its line in packages.kdl says how long packages stay
    #[arg(long, value_name = "NAME")]
    pub stream: String,

    /// Layout of keys and pages
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default:
    /// this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Count ages to this time, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    pub as_of: Option<u64>,

    /// Requests that are made at once
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// Delete also if more than half of the packages go
    #[arg(long)]
    pub yes: bool,

    /// Look at everything, print the steps, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  See what would go, and why, and let it go:
    rockpack index prune s3://nightly-bucket --layout v5 --stream nightly --dry-run
    rockpack index prune s3://nightly-bucket --layout v5 --stream nightly

  What would go in a year:
    rockpack index prune s3://rc-bucket/whl --stream rc --dry-run --as-of 1827000000
";
