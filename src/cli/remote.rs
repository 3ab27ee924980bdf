use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(next_help_heading = "Shared cache")]
pub struct RemoteArgs {
    /// Server (Remote Execution API) with packed files of other machines: `grpcs://HOST[:PORT]`,
    /// `grpc://HOST:PORT` or `unix:PATH`
    #[arg(long, value_name = "URL", env = "ROCKPACK_REMOTE_CACHE", hide_env_values = true)]
    pub remote_cache: Option<String>,

    /// Name of the cache on the server, if it has several
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub remote_instance_name: String,

    /// Header (NAME=VALUE), or a file of headers (@FILE); may be repeated [default: the lines of
    /// `$ROCKPACK_REMOTE_HEADER`]
    #[arg(long, value_name = "HEADER", action = ArgAction::Append)]
    pub remote_header: Vec<String>,

    /// Program that prints headers by Bazel's protocol, for some hosts PATTERN=PROGRAM; may be
    /// repeated
    #[arg(long, value_name = "PROGRAM", action = ArgAction::Append, value_hint = ValueHint::CommandName)]
    pub credential_helper: Vec<String>,

    /// Certificates of the server's signers, in PEM [default: the system's]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tls_certificate: Option<PathBuf>,

    /// Client certificate for the server, in PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_client_key")]
    pub tls_client_certificate: Option<PathBuf>,

    /// Key of the client certificate, in PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_client_certificate")]
    pub tls_client_key: Option<PathBuf>,

    /// Use of the shared cache
    #[arg(
        long,
        value_name = "MODE",
        env = "ROCKPACK_REMOTE_MODE",
        hide_env_values = true,
        default_value = "read",
        hide = true,
        value_parser = mode
    )]
    remote_mode: Mode,

    /// Send packed files to the shared cache; the server must accept them
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "no_remote_upload_local_results")]
    remote_upload_local_results: bool,

    /// Send nothing [default, unless `$ROCKPACK_REMOTE_MODE` is readwrite]
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "remote_upload_local_results")]
    no_remote_upload_local_results: bool,

    #[arg(long, help = "Use packed files of the shared cache [default]", action = ArgAction::SetTrue, overrides_with = "no_remote_accept_cached")]
    remote_accept_cached: bool,

    /// Use no packed file of the shared cache
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "remote_accept_cached")]
    no_remote_accept_cached: bool,

    /// Part of the shared cache that is separate from all others
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub remote_cache_silo: String,

    /// Time limit of a request [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s", hide_default_value = true)]
    pub remote_timeout: Duration,

    /// Retries of a failed request [default: 5]
    #[arg(long, value_name = "N", default_value_t = 5, hide_default_value = true)]
    pub remote_retries: u32,

    /// End with an error if the shared cache or the farm fails; the packages are made anyway
    #[arg(long)]
    pub remote_required: bool,

    /// Server of a build farm, which packs expensive files that the shared cache lacks; also the
    /// shared cache, without --remote-cache
    #[arg(long, value_name = "URL", env = "ROCKPACK_REMOTE_EXECUTOR", hide_env_values = true)]
    pub remote_executor: Option<String>,

    /// Required property of the farm's machines, such as OSFamily=Linux; may be repeated
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append, requires = "remote_executor")]
    pub remote_default_exec_properties: Vec<String>,

    /// Static rockpack for the farm's machines [default: this program, if it is static]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "remote_executor")]
    pub remote_program: Option<PathBuf>,

    /// Have the farm build whole packages from artifacts in its storage: the directory HASH/SIZE,
    /// or `checksums` for the archives of the run, by their `.sha256sum` files
    ///
    /// Needs a saved catalog (--catalog) for the plan. Artifacts of packages that the farm builds
    /// are not read here. Each received package is checked with the plan, as by `rockpack wheel
    /// verify --plan`; contents of its files cannot be compared. Other packages are built here,
    /// from --artifact-dir or --store.
    #[arg(long, value_name = "DIGEST", requires = "remote_executor")]
    pub artifacts_digest: Option<String>,

    /// Packages to fetch from the farm: all, or minimal: only checksums and provenance are written
    /// [default: all]
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "all",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub remote_download_outputs: Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Outputs {
    All,
    Minimal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    ReadWrite,
}

/// The option is hidden: the error names its variable.
fn mode(text: &str) -> Result<Mode, String> {
    match text {
        // An empty variable counts as not given.
        "read" | "" => Ok(Mode::Read),
        "readwrite" => Ok(Mode::ReadWrite),
        _ => Err("ROCKPACK_REMOTE_MODE is read or readwrite".to_owned()),
    }
}

impl RemoteArgs {
    /// A farm is a cache too. Empty variables count as not given.
    pub fn address(&self) -> Option<&str> {
        let cache = self.remote_cache.as_deref().filter(|address| !address.is_empty());
        cache.or_else(|| self.executor())
    }

    pub fn executor(&self) -> Option<&str> {
        self.remote_executor.as_deref().filter(|address| !address.is_empty())
    }
}

#[cfg(feature = "remote")]
impl RemoteArgs {
    pub fn writes(&self) -> bool {
        self.remote_upload_local_results
            || self.remote_mode == Mode::ReadWrite && !self.no_remote_upload_local_results
    }

    pub fn reads(&self) -> bool {
        !self.no_remote_accept_cached
    }
}

/// Parses `60s`, `500ms`, `2m`, or a number of seconds, like Bazel.
fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        _ => 0,
    };
    let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    millis
        .filter(|millis| *millis > 0 && *millis <= 86_400_000)
        .map(Duration::from_millis)
        .ok_or_else(|| "expected a time as 60s, 500ms or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Build {
        #[command(flatten)]
        remote: RemoteArgs,
    }

    fn parse(arguments: &[&str]) -> RemoteArgs {
        Build::parse_from([&["build"], arguments].concat()).remote
    }

    #[cfg(feature = "remote")]
    #[test]
    fn nothing_is_sent_unless_somebody_says_so() {
        let (send, not) = ("--remote-upload-local-results", "--no-remote-upload-local-results");
        for (arguments, writes) in [
            (&[][..], false),
            (&[send], true),
            (&["--remote-mode", "readwrite"], true),
            (&["--remote-mode", "readwrite", not], false),
            (&[send, not], false),
            (&[not, send], true),
        ] {
            assert_eq!(parse(arguments).writes(), writes, "{arguments:?}");
        }
        assert!(parse(&[]).reads() && !parse(&["--no-remote-accept-cached"]).reads());
    }

    #[test]
    fn a_variable_that_is_set_to_nothing_names_no_server() {
        assert_eq!(parse(&["--remote-cache", ""]).address(), None);
        assert_eq!(parse(&["--remote-executor", ""]).address(), None);
    }

    #[test]
    fn a_farm_is_a_cache_unless_another_is_named() {
        let farm = parse(&["--remote-executor", "farm"]);
        assert_eq!((farm.address(), farm.executor()), (Some("farm"), Some("farm")));
        let both = parse(&["--remote-executor", "farm", "--remote-cache", "cache"]);
        assert_eq!((both.address(), both.executor()), (Some("cache"), Some("farm")));
        assert_eq!(parse(&["--remote-cache", "cache"]).executor(), None);
    }

    #[test]
    fn times_are_written_as_bazel_does() {
        for (text, millis) in [("60s", 60_000), ("60", 60_000), ("500ms", 500), ("2m", 120_000)] {
            assert_eq!(time(text), Ok(Duration::from_millis(millis)));
        }
        for text in ["", "s", "0s", "1h", "-1s", "1.5s", "99999999999s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
