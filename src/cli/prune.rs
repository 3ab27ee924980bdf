use std::path::PathBuf;

use base::address::Address;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::PublishLayout;

/// Delete packages of an object store that are older than their stream keeps them
///
/// The `stream` lines of packages.kdl set the maximum age, by the time in the store, or with
/// date="version" by the date in the version:
///
///   stream "nightly" keep="120 days"
///   stream "weekly" keep="52 weeks" date="version"
///
/// An older package stays if a remaining package requires it, on any system, or if a page outside
/// of the layout names it. `==` keeps all files of a version; other requirements keep the newest
/// version that fits, unless one stays anyway. A package that no page names stays for its first day
/// in the store: it may be about to be published. Of each project, the newest version with its
/// requirements in the store stays.
///
/// Names are removed from pages first, packages before their requirements; then packages and their
/// other files are deleted. After an interruption, the index has only complete packages, and the
/// next run continues. Do not publish old packages meanwhile.
///
/// More than half of all packages are deleted only with --yes. The store must record the stream:
/// `rockpack index publish --stream`.
///
/// --dry-run prints each deletion with its reason. Older packages that stay are always printed.
///
/// Exit status: 0 done, 1 a page is no index page, requirements of a package are unknown, the store
/// is of another stream, or --yes is missing, 2 error in the command line, the manifest, the
/// environment or the store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PruneStoreArgs {
    /// Address of the published packages
    #[arg(value_name = "URL", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new().map(Address::new))]
    pub url: Address,

    /// Stream of the store; its line in packages.kdl sets the maximum age
    #[arg(long, value_name = "NAME")]
    pub stream: String,

    /// Layout of keys and pages
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Compute ages at this time, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    pub as_of: Option<u64>,

    /// Number of concurrent requests
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// Delete even more than half of the packages
    #[arg(long)]
    pub yes: bool,

    /// Read everything, print the steps, and delete nothing
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
