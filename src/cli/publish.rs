//! The arguments of `rockpack index publish`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use wheel::archive::Timestamp;

use super::AllowArgs;

/// Upload packages to an object store, with the pages by which pip and uv find them
///
/// Takes the wheels (.whl) and sdists (.tar.gz) in DIR and below. URL is `s3://BUCKET/PATH`,
/// `gs://BUCKET/PATH`, `az://CONTAINER/PATH`, `file:///PATH` or a directory. Credentials, region and
/// endpoint come from the environment: variables that begin with `AWS_`, `GOOGLE_` and `AZURE_`.
///
/// Layouts:
///   per-package  URL/{project}/{file}, with a page for each project and one that leads there, for
///                --index-url
///   flat         URL/{file}, with one page for --find-links
///   v5           the `shelf` lines of packages.kdl: URL/{path}/{project}/{file}, each shelf as
///                per-package; then, with an `aggregate` line, a page of all projects and the
///                documents of routes
///
/// Where a build made selectors for an index of their own (`index "whl"` in packages.kdl), all of it
/// is done for that index too: these selectors and all other packages go to URL/whl, or to shelves
/// with `index="whl"`.
///
/// Before anything is written, all packages are read, and compared with the store: equal bytes are
/// left alone, other bytes under a name are an error. All that the packages require, for whichever
/// system and extra, has to be in DIR, on the pages of the store, or named by --outside or an
/// `outside` line; so do the requirements of what is found in the store.
///
/// A package that `rockpack wheel verify` refuses alone is an error, unless --allow names the code of
/// the finding.
///
/// Then packages go up, each only if nothing is at its key; then METADATA of wheels (PEP 658); then
/// pages of projects, parts before those who require them; then the page of all projects. Pages are
/// read, merged and replaced only if nobody else did meanwhile: several may publish at once.
/// Whatever interrupts it leaves an index of whole packages, and the next run does the rest. What
/// pages say of other packages stays.
///
/// FILE.yanked beside a package yanks it (PEP 592); its text is the reason. With the text `false`, it
/// takes a yank back.
///
/// Stores behind URLs need the feature `stores`, which released programs have.
///
/// Exit status: 0 published, 1 the packages are broken, incomplete or others than those in the store, 2
/// something is wrong with the command line, the environment or the store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct PublishArgs {
    /// The directory with the packages
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Where they go
    #[arg(value_name = "URL", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new())]
    pub url: String,

    /// Layout of keys and pages
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: PublishLayout,

    /// The stream that the store is for, such as nightly: the store records it, and with another one, or none,
    /// publishing there is an error from then on [default with layout v5: dev]
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,

    /// Directory with packages.kdl and families.kdl, or `built-in` for the program's own copy [default:
    /// this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// A project that users get elsewhere, such as numpy; may be repeated, and have `,` between
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub outside: Vec<String>,

    /// Publish although something that is required is nowhere
    #[arg(long)]
    pub incomplete: bool,

    /// Upload time of new packages, in seconds since 1970 [default: that of each package's newest member]
    #[arg(long, value_name = "SECONDS", env = "SOURCE_DATE_EPOCH")]
    pub upload_time: Option<Timestamp>,

    /// Packages that are on their way at once
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// Look at everything, print the steps, and write nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub allow: AllowArgs,
}

/// Where packages and pages lie in a store.
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
