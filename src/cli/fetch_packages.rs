use std::path::PathBuf;

use base::address::Address;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

/// Fetch packages of an index, by exact version and SHA-256
///
/// Takes every file of each NAME==VERSION, or the files whose hashes a list has. A file without
/// SHA-256 on its page, or with another one, is an error. Requirements of packages are not
/// followed, and markers of a list are ignored.
///
/// SOURCE is an address for pip's --index-url, or a directory or URL of `rockpack index publish`.
/// Files in DIR with the same bytes are kept. Patches of `rockpack index delta`, also of several
/// versions, make a wheel from an earlier one in DIR. A yanked file gets FILE.yanked, so that
/// `rockpack index publish` yanks it too.
///
/// Exit status: 0 fetched, 1 a package is missing or has other bytes, 2 error in the command line,
/// the environment or a store.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub struct FetchPackagesArgs {
    /// Address of an index
    #[arg(value_name = "SOURCE", value_hint = ValueHint::Url, value_parser = NonEmptyStringValueParser::new().map(Address::new))]
    pub source: Address,

    /// Packages, such as torch==2.9.0
    #[arg(value_name = "NAME==VERSION", required_unless_present = "requirements")]
    pub packages: Vec<String>,

    /// List of packages with hashes, as for pip's --require-hashes; may be repeated
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub requirements: Vec<PathBuf>,

    /// Directory for the packages, created if missing
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dry_run", value_parser = super::output::path())]
    pub output: Option<PathBuf>,

    /// Number of concurrent transfers
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// Print the files, and fetch nothing
    #[arg(long)]
    pub dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  Packages of others in an own index, so that --index-url alone suffices:
    uv pip compile --generate-hashes third-party.in -o third-party.txt
    rockpack index fetch https://pypi.org/simple/ -r third-party.txt -o third-party
    rockpack index publish third-party s3://bucket/whl --incomplete

  A release candidate of an index becomes the release:
    rockpack index fetch https://example.com/whl/ rocm==7.10.0rc1 rocm-sdk-core==7.10.0rc1 -o rc1
    rockpack wheel promote rc1 --to 7.10.0 -o release
";
