//! `remote`.

use std::str::FromStr;
use std::time::Duration;

use base::names::NameError;
use base::source::Spanned;
use manifest_derive::Line;

use crate::line::{Scope, inner};
use crate::reader::Node;
use crate::text::{Variable, checked_text, choice};
use address::Address;

pub mod address;

/// Names a server of the Remote Execution API: a cache of packed files for several machines, or a build farm.
/// `rockpack build --remote NAME` uses it. The variables `ROCKPACK_REMOTE_CACHE`, `ROCKPACK_REMOTE_EXECUTOR`,
/// `ROCKPACK_REMOTE_HEADER` and `ROCKPACK_REMOTE_MODE` override the line. Paths are below the directory of packages.kdl.
#[derive(Debug, Clone, Line)]
#[line(
    "remote",
    once,
    within = inner,
    usage = r#"remote "NAME" cache="grpcs://HOST" executor="grpcs://HOST" instance="NAME" … { … }"#,
    example = r#"remote "example" cache="grpcs://cache.example.org" instance="packages" {
    header "authorization" env="CACHE_AUTHORIZATION"
}"#
)]
pub struct RemoteRule {
    /// Its name for `--remote`.
    #[arg("NAME", "a name")]
    pub name: Spanned<String>,
    /// The server of the cache: `grpcs://HOST[:PORT]`, `grpc://HOST:PORT` (unencrypted) or `unix:PATH`. Without it, the
    /// farm is the cache.
    #[prop("grpcs://HOST")]
    pub cache: Option<Address>,
    /// The server of the farm, which packs slow files that the cache lacks.
    #[prop("grpcs://HOST")]
    pub executor: Option<Address>,
    /// The name of the cache on a server with several.
    #[prop("NAME", default)]
    pub instance: String,
    /// A separate part of the cache.
    #[prop("NAME", default)]
    pub silo: String,
    /// Upload packed files; the server must accept them. `ROCKPACK_REMOTE_MODE` is `read` or `readwrite` for one build, and has no effect without a server.
    #[prop]
    pub upload: bool,
    /// Use no packed file and no result of earlier builds.
    #[prop]
    pub refresh: bool,
    /// Fail after the packages are in place if cache or farm could not be used to the end.
    #[prop]
    pub required: bool,
    /// The longest time of a request: `60s`, `500ms` or `2m`. Without it, 60s.
    #[prop("60s", default = Timeout::DEFAULT)]
    pub timeout: Timeout,
    /// The number of tries of a request. Without it, 6.
    #[prop(default = 6, shown = "tries=6")]
    pub tries: usize,
    /// A static rockpack for the machines of the farm. Without it, the running program.
    #[prop("FILE")]
    pub program: Option<String>,
    /// The packages to download that a farm built: `all`, or `minimal`, which leaves them in its storage. Without it,
    /// `all`.
    #[prop("all|minimal", default)]
    pub download: Outputs,
    /// Headers to send.
    #[child]
    pub headers: Vec<Header>,
    /// Programs that print headers.
    #[child]
    pub helpers: Vec<Credentials>,
    /// Certificates.
    #[child]
    pub tls: Option<RemoteTls>,
    /// Required properties of the farm's machines.
    #[child]
    pub machines: Vec<Machine>,
}

/// Sends a header. Its value is a secret, and not in the manifest.
#[derive(Debug, Clone, Line)]
#[line(
    "header",
    once,
    check(check_source(env, file)),
    example = r#"header "authorization" env="CACHE_AUTHORIZATION""#
)]
pub struct Header {
    /// The header.
    #[arg("NAME", "a header", via = HeaderName)]
    pub name: Spanned<String>,
    /// The variable with its value, such as `Bearer TOKEN`.
    #[prop("VARIABLE", via = Variable)]
    pub env: Option<Spanned<String>>,
    /// The file with its value.
    #[prop("FILE")]
    pub file: Option<Spanned<String>>,
}

/// Names a program that prints headers, by the protocol of Bazel's credential helpers. The first line for a host counts.
#[derive(Debug, Clone, Line)]
#[line("credential-helper", example = r#"credential-helper "tools/token" for="*.example.org""#)]
pub struct Credentials {
    /// The program: a name in `PATH`, or a path.
    #[arg("PROGRAM", "a program")]
    pub program: String,
    /// Its hosts: one name, or `*.DOMAIN`. Without it, all.
    #[prop("*.DOMAIN", name = "for")]
    pub pattern: Option<String>,
}

/// Names the certificates of encrypted connections, files in PEM.
#[derive(Debug, Clone, Line)]
#[line("tls", check(check_tls()), example = r#"tls certificate="certificates/authority.pem""#)]
pub struct RemoteTls {
    /// Certificates of the authorities that sign the server's. Without it, those of the system.
    #[prop("FILE")]
    pub certificate: Option<Spanned<String>>,
    /// The certificate of the client.
    #[prop("FILE")]
    pub client_certificate: Option<Spanned<String>>,
    /// The key of the client's certificate.
    #[prop("FILE")]
    pub client_key: Option<Spanned<String>>,
}

/// Names a property that the farm's machines must have.
#[derive(Debug, Clone, Line)]
#[line("machine", example = r#"machine "OSFamily" "linux""#)]
pub struct Machine {
    /// The property.
    #[arg("NAME", "a property")]
    pub name: String,
    /// Its value.
    #[arg("VALUE", "a value")]
    pub value: String,
}

/// Downloaded packages of a farm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outputs {
    /// All.
    #[default]
    All,
    /// None: they stay in its storage.
    Minimal,
}

choice!(Outputs, "a set of packages to download", "all" => All, "minimal" => Minimal);

checked_text!(
    /// The name of a header (RFC 9110).
    HeaderName,
    |text: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !text.is_empty() && text.chars().all(is_fine)
    },
    "is not the name of a header",
    "use letters, digits, `-`, `_` and `.`"
);

/// Longest time of a request: `60s`, `500ms`, `2m`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout(pub Duration);

impl Timeout {
    /// Timeout of lines without one.
    pub const DEFAULT: Self = Self(Duration::from_mins(1));
    /// A day in milliseconds.
    const LONGEST: u64 = 86_400_000;
}

impl FromStr for Timeout {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = match unit {
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            _ => 0,
        };
        let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        millis
            .filter(|millis| *millis > 0 && *millis <= Self::LONGEST)
            .map(|millis| Self(Duration::from_millis(millis)))
            .ok_or_else(|| NameError::new("a time", text, "write \"60s\", \"500ms\" or \"2m\""))
    }
}

fn check_source(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    env: Option<&Spanned<String>>,
    file: Option<&Spanned<String>>,
) {
    match (env, file) {
        (None, None) if !node.has_property("env") && !node.has_property("file") => node.fault(
            format!("`{}` lacks `env` or `file`", node.title()),
            "write env=\"VARIABLE\" or file=\"FILE\": the manifest contains no secret",
        ),
        (Some(_), Some(_)) => {
            node.fault(format!("`{}` has `env` and `file`", node.title()), "keep one of them");
        }
        _ => {}
    }
}

/// Reports a client's certificate without its key, the reverse, and a line without a file.
fn check_tls(node: &Node<'_>, _: &Scope<'_, '_>) {
    let (has_client, has_key) =
        (node.has_property("client-certificate"), node.has_property("client-key"));
    if has_client != has_key {
        let absent = if has_client { "client-key" } else { "client-certificate" };
        node.fault(format!("`tls` lacks `{absent}`"), "a client shows a certificate with its key");
    } else if node.is_bare() {
        node.fault("`tls` names no file", "write certificate=\"FILE\", or take the line away");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_in_the_form_of_bazel() {
        for (text, millis) in [("60s", 60_000), ("60", 60_000), ("500ms", 500), ("2m", 120_000)] {
            assert_eq!(text.parse(), Ok(Timeout(Duration::from_millis(millis))));
        }
        for text in ["", "s", "0s", "1h", "-1s", "1.5s", "99999999999s"] {
            assert!(text.parse::<Timeout>().is_err(), "{text}");
        }
    }
}
