use std::path::PathBuf;

use base::address::Address;
use clap::{Args, ValueEnum, ValueHint};
use index::simple::Layout;
use wheel::archive::Timestamp;

use super::AllowArgs;

/// Write the pages by which pip and uv find the packages in a directory
///
/// Reads wheels (.whl) and sdists (.tar.gz) in DIR and below. Writes HTML (PEP 503) and JSON (PEP
/// 691) with hashes, sizes, versions and upload times, and the metadata of each wheel
/// (WHEEL.metadata, PEP 658). Links are relative: any web server can serve DIR, and file:// works.
///
/// Layouts:
///   simple  one index of all packages, DIR/simple/, for --index-url
///   flat    index.html in each directory that has packages, for --find-links
///   run     DIR/{run}-{platform}/python/{group}: in each group, index.html for --find-links and
///           simple/ for --index-url
/// DIR/index.html links to all of these pages.
///
/// For each line `index "NAME"` of a selector, there is one more set of pages, in NAME below each of
/// these places. It lists the selector that requires more in place of the usual one, and all other
/// packages.
///
/// An update reads only packages whose name, size or time changed (DIR/.rockpack-index.json).
/// Clients may read the pages during an update. Equal packages give equal pages.
///
/// FILE.yanked next to a package yanks it (PEP 592); its text is the reason. The text `false`
/// takes a yank back. Attestations (PEP 740), FILE.publish.attestation and FILE.slsa.attestation,
/// are combined into FILE.provenance. With --public, pages link to it.
/// Files with the same name and different content in one index are an error. Each new or changed
/// package must pass `rockpack wheel verify` on its own; --allow accepts findings.
///
/// Exit status: 0 written, 1 a package has errors or contradicts another or its attestation, 2 usage
/// or environment error.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = INDEX_EXAMPLES)]
pub struct IndexArgs {
    /// Directory with the packages
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Layout of the pages
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t)]
    pub layout: IndexLayout,

    /// Upload time of all packages, in seconds since 1970 [default: the time of each package's
    /// newest member]
    #[arg(long, value_name = "SECONDS", env = "SOURCE_DATE_EPOCH")]
    pub upload_time: Option<Timestamp>,

    /// Public URL of DIR (https://), for the links to FILE.provenance
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub public: Option<Address>,

    /// Directory of the manifest, or `built-in` for the program's own; its `ignore` lines accept
    /// findings [default: the current directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Remove the packages with this file name from the pages, then delete the files; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub remove: Vec<PathBuf>,

    /// Leave out unreadable packages, with a warning for each
    #[arg(long)]
    pub skip_broken: bool,

    /// Replace index pages of another program or of `rockpack index publish`; their yanks and other
    /// data are lost
    #[arg(long)]
    pub overwrite: bool,

    #[command(flatten)]
    pub allow: AllowArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum IndexLayout {
    /// One index of all packages, for --index-url
    #[default]
    Simple,
    /// A page for each directory, for --find-links
    Flat,
    /// `simple` and `flat`, in each group of each CI run
    Run,
}

impl From<IndexLayout> for Layout {
    fn from(layout: IndexLayout) -> Self {
        match layout {
            IndexLayout::Simple => Self::Simple,
            IndexLayout::Flat => Self::Flat,
            IndexLayout::Run => Self::Run,
        }
    }
}

const INDEX_EXAMPLES: &str = "\
Examples:
  Index built packages, and install from the index:
    rockpack index write out/dist
    pip install --index-url file://$PWD/out/dist/simple/ rocm-sdk-core

  Pages for --find-links:
    rockpack index write --layout flat out/dist

  Runs of CI, in a copy of the bucket:
    rockpack index write --layout run bucket

  Take a package off:
    rockpack index write out/dist --remove rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl
";
