use std::path::PathBuf;

use base::address::Address;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::PublishLayout;

/// Write the pages of a published index for a third party, which serves no packages
///
/// Reads the pages of SOURCE, by `rockpack index publish` or another program. Writes
/// {project}/index.html (PEP 503), index.json (PEP 691) and a page that links to them into DEST,
/// for --index-url. Links are absolute, to the packages of SOURCE with their SHA-256. Yanked
/// packages stay yanked, and resolvers find the metadata of wheels in SOURCE.
///
/// SOURCE and DEST are directories or URLs as for `rockpack index publish`; SOURCE can also be on a
/// web server. Pages in DEST of other projects are removed. Pages by other programs are not
/// replaced; a DEST with its own packages is refused.
///
/// Exit status: 0 written, 1 a package has no hash, a page cannot be read, or another program made
/// it, 2 error in the command line, the environment or a store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct MirrorArgs {
    /// Address of the published index
    #[arg(value_name = "SOURCE", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new().map(Address::new))]
    pub source: Address,

    /// Directory or URL for the pages
    #[arg(value_name = "DEST", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new().map(Address::new))]
    pub dest: Address,

    /// Public URL of SOURCE; with layout v5, the part before each shelf's `public` [default:
    /// SOURCE, if it is on a web server]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub public: Option<Address>,

    /// Projects, such as rocm; separated by `,` or repeated [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub project: Vec<String>,

    /// Layout of keys and pages of SOURCE
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Read everything, print the pages, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  Pages of two projects, for somebody's own index:
    rockpack index mirror s3://bucket/whl pages --public https://example.com/whl/ --project rocm,rocm-sdk-core

  All products of a stream in one index:
    rockpack index mirror s3://nightly-bucket pages --layout v5 --public https://nightly.example.com/
";
