use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, ValueHint};
use rewrite::release::Date;

/// Print the versions of a build: of wheels, of deb and of rpm packages
///
/// version.json has the base version; the kind of build adds its date (in UTC), its commit, or a
/// number. Versions that installers interpret in a surprising way get a warning.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("kind").required(true).args(["release_type", "version_suffix"]))]
pub struct VersionsArgs {
    /// File with `NAME-version`, and `release-metadata.base-date` on release branches
    #[arg(value_name = "FILE", default_value = "version.json", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Kind of build
    #[arg(long, value_name = "TYPE", value_parser = PossibleValuesParser::new(["release", "prerelease", "nightly", "nightly-bkc", "ci", "dev", "dev-bkc"]))]
    pub release_type: Option<String>,

    /// Text to append to the base version, instead of the suffix of a kind of build
    #[arg(long, value_name = "SUFFIX", allow_hyphen_values = true)]
    pub version_suffix: Option<String>,

    /// Number of a prerelease
    #[arg(long, value_name = "N", required_if_eq("release_type", "prerelease"))]
    pub prerelease_version: Option<u32>,

    /// Base version, instead of FILE's
    #[arg(long, value_name = "VERSION")]
    pub override_base_version: Option<String>,

    /// Start date of the release branch, instead of FILE's
    #[arg(long, value_name = "YYYYMMDD")]
    pub base_date: Option<Date>,

    /// Day of the build, instead of today or `SOURCE_DATE_EPOCH`
    #[arg(long, value_name = "YYYYMMDD")]
    pub date: Option<Date>,

    /// Commit, instead of the checked-out one
    #[arg(long, value_name = "HASH", env = "GITHUB_SHA", hide_env_values = true)]
    pub sha: Option<String>,

    /// Directory with the manifest; its selector is the NAME of `NAME-version`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Print JSON, with the names of the outputs that CI reads
    #[arg(long)]
    pub json: bool,

    /// Also append the outputs to the file that the variable `GITHUB_OUTPUT` names
    #[arg(long)]
    pub github_output: bool,
}

const EXAMPLES: &str = "\
Examples:
  Tonight's build:
    rockpack help versions --release-type nightly
  A release candidate, without a version.json:
    rockpack help versions --override-base-version 7.10.0 --release-type prerelease --prerelease-version 2
  In CI:
    rockpack help versions --release-type dev --github-output
";
