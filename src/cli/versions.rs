//! The arguments of `rockpack help versions`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, ValueHint};
#[cfg(feature = "rewrite")]
use rewrite::release::Date;

/// A date; a program without the feature `rewrite` does not read it.
#[cfg(not(feature = "rewrite"))]
type Date = String;

/// Print the versions of a build: of wheels, of deb and of rpm packages
///
/// The base version comes from version.json; the rest from the kind of build: its date (in UTC), its
/// commit, or a number. What installers make of a version in an unexpected way is a warning.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("kind").required(true).args(["release_type", "version_suffix"]))]
pub struct VersionsArgs {
    /// The file with `NAME-version`, and `release-metadata.base-date` on release branches
    #[arg(value_name = "FILE", default_value = "version.json", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// The kind of build
    #[arg(long, value_name = "TYPE", value_parser = PossibleValuesParser::new(["release", "prerelease", "nightly", "nightly-bkc", "ci", "dev", "dev-bkc"]))]
    pub release_type: Option<String>,

    /// Append this text to the base version, in place of what a kind of build appends
    #[arg(long, value_name = "SUFFIX", allow_hyphen_values = true)]
    pub version_suffix: Option<String>,

    /// The number of a prerelease
    #[arg(long, value_name = "N", required_if_eq("release_type", "prerelease"))]
    pub prerelease_version: Option<u32>,

    /// The base version, in place of that of FILE
    #[arg(long, value_name = "VERSION")]
    pub override_base_version: Option<String>,

    /// The date that a release branch started from, in place of that of FILE
    #[arg(long, value_name = "YYYYMMDD")]
    pub base_date: Option<Date>,

    /// The day of the build, in place of today or of `SOURCE_DATE_EPOCH`
    #[arg(long, value_name = "YYYYMMDD")]
    pub date: Option<Date>,

    /// The commit, in place of the one that is checked out
    #[arg(long, value_name = "HASH", env = "GITHUB_SHA", hide_env_values = true)]
    pub sha: Option<String>,

    /// The directory with the manifest, whose selector names what is released
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    /// Print JSON, with the names of the outputs that CI reads
    #[arg(long)]
    pub json: bool,

    /// Append the outputs to the file that the variable `GITHUB_OUTPUT` names, too
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
