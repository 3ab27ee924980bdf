//! The arguments of `rockpack index mirror`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::PublishLayout;

/// Write the pages of a published index for a third party, which serves no packages
///
/// Reads the pages of SOURCE, where `rockpack index publish` or another program put them, and writes
/// into DEST {project}/index.html (PEP 503) and index.json (PEP 691), and a page that leads there, for
/// --index-url. Addresses are absolute, and lead to the packages of SOURCE; each has its SHA-256, so
/// that installers take no other bytes. Yanked packages stay yanked, and resolvers find the metadata
/// of wheels in SOURCE.
///
/// SOURCE and DEST are directories or URLs as `rockpack index publish` takes them; SOURCE can be on a
/// web server, too. Pages of DEST that another program made are not replaced. Pages of projects that
/// SOURCE no longer has are removed, and with --project the pages of all other projects. A DEST whose
/// pages lead to packages in DEST is no mirror, and is refused.
///
/// Exit status: 0 written, 1 a package has no hash, or a page cannot be read or was made by another
/// program, 2 something is wrong with the command line, the environment or a store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct MirrorArgs {
    /// Where packages were published
    #[arg(value_name = "SOURCE", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new())]
    pub source: String,

    /// Where the pages go
    #[arg(value_name = "DEST", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new())]
    pub dest: String,

    /// Where clients see SOURCE; with layout v5, what stands before the `public` of each shelf [default:
    /// SOURCE itself, if it is on a web server]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub public: Option<String>,

    /// A project, such as rocm; may be repeated, and have `,` between [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub project: Vec<String>,

    /// Layout of keys and pages of SOURCE
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default:
    /// this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Look at everything, print the pages, and write nothing
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
