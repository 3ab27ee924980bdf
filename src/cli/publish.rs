use std::path::PathBuf;

use base::address::Address;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use wheel::archive::Timestamp;

use super::AllowArgs;

/// Upload packages to an object store, with the pages by which pip and uv find them
///
/// Publishes wheels (.whl) and sdists (.tar.gz) in DIR and below. URL is `s3://BUCKET/PATH`,
/// `gs://BUCKET/PATH`, `az://CONTAINER/PATH`, `file:///PATH` or a directory. Credentials, region
/// and endpoint are read from variables that begin with `AWS_`, `GOOGLE_` and `AZURE_`.
///
/// Layouts:
///   per-package  URL/{project}/{file}, with a page for each project and a page of links to them,
///                for --index-url
///   flat         URL/{file}, with one page for --find-links
///   v5           the `shelf` lines of packages.kdl: URL/{path}/{project}/{file}, each shelf as
///                per-package; then, with an `aggregate` line, a page of all projects and the
///                documents of routes
///
/// Selectors for another index (`index "whl"`) are published, with all other packages, to URL/whl
/// or shelves with `index="whl"`.
///
/// First, packages are compared with the store: equal bytes are skipped, other bytes under a name
/// are an error. All requirements, also indirect ones in the store, must be in DIR, in the store,
/// or named by --outside or an `outside` line, for every system and extra. Each package must pass
/// `rockpack wheel verify` on its own; --allow accepts findings.
///
/// Then packages are uploaded, then METADATA of wheels (PEP 658), pages of projects (required ones
/// first), and the page of all projects. Pages are merged, and replaced only if unchanged
/// meanwhile: several may publish at once. After an interruption, the index has only complete
/// packages, and the next run continues.
///
/// FILE.yanked next to a package yanks it (PEP 592); its text is the reason. The text `false` takes
/// a yank back. Patches of `rockpack index delta` are uploaded too.
///
/// Attestations (PEP 740), FILE.publish.attestation and FILE.slsa.attestation, must name FILE and
/// its SHA-256; signatures are not checked. They become FILE.provenance, which pages name with
/// --public.
///
/// Stores behind URLs need the feature `stores`, which released programs have.
///
/// Exit status: 0 published, 1 the packages are broken, incomplete or differ from the store's, 2
/// error in the command line, the environment or the store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PublishArgs {
    /// Directory with the packages
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Address of the store
    #[arg(value_name = "URL", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new().map(Address::new))]
    pub url: Address,

    /// Layout of keys and pages
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// Stream of the store, such as nightly: the store records it, and refuses another one, or
    /// none, from then on [default with layout v5: dev]
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,

    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Projects that users get elsewhere, such as numpy; separated by `,` or repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub outside: Vec<String>,

    /// Publish although a requirement is missing
    #[arg(long)]
    pub incomplete: bool,

    /// Upload time of new packages, in seconds since 1970 [default: the time of each package's
    /// newest member]
    #[arg(long, value_name = "SECONDS", env = "SOURCE_DATE_EPOCH")]
    pub upload_time: Option<Timestamp>,

    /// Public address of the store (https://), for the links to FILE.provenance; with layout v5, the
    /// part before each shelf's `public`
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub public: Option<Address>,

    /// Number of packages uploaded at once
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// Read everything, print the steps, and write nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub allow: AllowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PublishLayout {
    /// A directory with a page for each project, for --index-url
    #[default]
    PerPackage,
    /// One page for all packages, for --find-links
    Flat,
    /// The shelves of packages.kdl
    V5,
}

const EXAMPLES: &str = "\
Examples:
  See what would be done, and do it:
    rockpack index publish --dry-run out/dist s3://bucket/whl
    rockpack index publish out/dist s3://bucket/whl --outside numpy,setuptools

  Each package to its product's index, in the bucket of a stream:
    rockpack index publish out/dist s3://nightly-bucket --layout v5 --stream nightly

  One page for --find-links, in a directory that a web server has:
    rockpack index publish out/dist /srv/packages --layout flat
";
